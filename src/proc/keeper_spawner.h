// Linux: starts a keeper, which starts the server and holds the tree.
#pragma once

#include <cstdint>
#include <string>

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

 private:
  std::string helper_;
  /// Servers get the limit of open files that we had at the start, also if we have raised ours since.
  std::uint64_t open_files_;
};

/// 128 random bits as hexadecimal digits.
std::string random_instance_id();

}  // namespace corral::proc
