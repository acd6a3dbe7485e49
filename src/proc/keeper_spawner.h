// The Linux spawner: starts a keeper, which starts the server and holds the tree. Used on one thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/unique_fd.h"
#include "keeper/keepers_below.h"
#include "proc/spawner.h"

namespace corral::proc {

class KeeperSpawner final : public Spawner {
 public:
  /// Uses the helper that was installed with this program, ../libexec/corral/corral-keeper; the build
  /// directory has the same layout.
  static Result<KeeperSpawner> create();
  explicit KeeperSpawner(std::string helper);

  Result<ProcessTree> spawn(const LaunchSpec& spec) override;

  const std::string& helper() const { return helper_; }
  /// The file that keepers execute, even if the path now leads to another one.
  keeper::FileId helper_file() const;

 private:
  std::string executable() const;

  std::string helper_;
  /// Held open, because an in-place upgrade puts another build at the path, which would not understand our
  /// plans.
  UniqueFd file_;
  /// The open-file limit at our start. Servers get it even if we have raised our own since.
  std::uint64_t open_files_;
};

/// 128 random bits as hexadecimal digits.
std::string random_instance_id();

}  // namespace corral::proc
