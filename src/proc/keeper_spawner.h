// Linux: starts a keeper, which starts the server and holds the tree.
#pragma once

#include <cstdint>
#include <string>

#include "base/unique_fd.h"
#include "keeper/keepers_below.h"
#include "proc/spawner.h"

namespace corral::proc {

class KeeperSpawner final : public Spawner {
 public:
  /// The helper beside this program: ../libexec/corral/corral-keeper, in an installation and in a build
  /// alike.
  static Result<KeeperSpawner> create();
  explicit KeeperSpawner(std::string helper);

  Result<ProcessTree> spawn(const LaunchSpec& spec) override;

  const std::string& helper() const { return helper_; }
  /// What keepers run, whatever the path leads to by now.
  keeper::FileId helper_file() const;

 private:
  std::string executable() const;

  std::string helper_;
  /// Held open: an upgrade in place gives the path to another build, which would not understand our plans.
  UniqueFd file_;
  /// Servers get the limit of open files that we had at the start, also if we have raised ours since.
  std::uint64_t open_files_;
};

/// 128 random bits as hexadecimal digits.
std::string random_instance_id();

}  // namespace corral::proc
