// A registry in a directory of its own, and what the tests ask of it.
#pragma once

#include <sys/stat.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/loop.h"
#include "registry/registry.h"
#include "registry/sqlite_registry.h"
#include "survey/temp_files.h"

namespace corral::registry {

inline DaemonRecord daemon_called(const std::string& id) {
  return {.id = id,
          .boot_id = "boot",
          .pid_namespace = 4026531836,
          .process =
              {.pid = 4711, .pidfs_inode = ~std::uint64_t{0}, .start_ticks = 12, .uid = 1000, .handle = "h"},
          .version = "0.1.0",
          .started_ms = 1};
}

inline InstanceRecord instance_called(const std::string& id, const std::string& daemon) {
  return {.id = id, .daemon = daemon, .server = "files", .started_ms = 10};
}

inline events::Event event_of(std::uint64_t number, std::int64_t time_ms) {
  return {.number = number, .time_ms = time_ms, .kind = events::Kind::Spawn, .server = "files"};
}

class RegistryFiles : public survey::TempFiles {
 protected:
  std::string path() const { return root() + "/state/registry.db"; }

  std::unique_ptr<Registry> open(RegistryOptions options = {}) {
    options.notice = [this](Loss loss, const std::string& notice) {
      losses_.push_back(loss);
      notices_.push_back(notice);
    };
    return open_registry(loop_, path(), std::move(options));
  }
  /// With a daemon that began, and one instance of it, and without an end.
  void leave_a_crashed_daemon(const std::string& id) {
    const auto registry = open();
    registry->begin(daemon_called(id));
    registry->journal(instance_called(id + "-1", id));
  }
  /// Runs the loop until it is so, or for 15 s.
  void run_until(const std::function<bool()>& so) {
    Timer bound(loop_);
    Timer look(loop_);
    const std::function<void()> poll = [&] {
      if (so()) return loop_.stop();
      look.start(std::chrono::milliseconds(1), poll);
    };
    bound.start(std::chrono::seconds(15), [this] { loop_.stop(); });
    poll();
    loop_.run();
  }
  static mode_t mode_of(const std::string& file) {
    struct stat status {};
    return lstat(file.c_str(), &status) == 0 ? status.st_mode & 07777U : 0;
  }
  static std::string content_of(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  /// The names of files that were put aside, because they were damaged or for another reason.
  std::vector<std::string> put_aside(const std::string& why = "corrupt") const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(root() + "/state")) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("registry.db." + why + "-") && !name.ends_with("-wal")) found.push_back(name);
    }
    return found;
  }

  Loop loop_;
  std::vector<std::string> notices_;
  std::vector<Loss> losses_;  // one for each notice
};

}  // namespace corral::registry
