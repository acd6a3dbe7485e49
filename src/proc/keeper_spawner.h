// Linux: starts a keeper, which starts the server and holds the tree.
#pragma once

#include <string>

#include "proc/spawner.h"

namespace corral::proc {

class KeeperSpawner final : public Spawner {
 public:
  /// The helper beside this program: ../libexec/corral/corral-keeper, in an installation and in a build
  /// alike.
  static Result<KeeperSpawner> create();
  explicit KeeperSpawner(std::string helper) : helper_(std::move(helper)) {}

  Result<ProcessTree> spawn(const LaunchSpec& spec) override;

 private:
  std::string helper_;
};

/// 128 random bits as hexadecimal digits.
std::string random_instance_id();

}  // namespace corral::proc
