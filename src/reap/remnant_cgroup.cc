#include "reap/remnant_cgroup.h"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <thread>

#include "base/read_text.h"
#include "keeper/cgroup_files.h"
#include "keeper/proc_fs.h"

namespace corral::reap {
namespace {

/// Made by us, in the hierarchy that can be killed as one.
bool is_own_cgroup2(const std::string& directory) {
  struct stat status {};
  struct statfs system {};
  return lstat(directory.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
         statfs(directory.c_str(), &system) == 0 && system.f_type == CGROUP2_SUPER_MAGIC;
}

bool is_populated(const std::string& directory) {
  return read_text(directory + "/cgroup.events").find("populated 1") != std::string::npos;
}

std::vector<CgroupMember> members_of(const std::string& directory) {
  std::vector<CgroupMember> members;
  std::istringstream numbers(read_text(directory + "/cgroup.procs"));
  for (pid_t pid = 0; numbers >> pid;) {
    char comm[16];
    keeper::read_comm(pid, comm);
    members.push_back({pid, comm});
  }
  return members;
}

/// Also in one below it: the name is random, so it cannot stand there by chance.
bool holds_any(const std::string& directory, const std::vector<pid_t>& pids) {
  const std::string name = directory.substr(directory.rfind('/'));
  return std::any_of(pids.begin(), pids.end(), [&name](pid_t pid) {
    return read_text("/proc/" + std::to_string(pid) + "/cgroup").find(name) != std::string::npos;
  });
}

}  // namespace

CgroupEnd end_cgroup_remnant(const std::string& directory, const std::vector<pid_t>& own_line,
                             std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds kBetweenLooks{5};
  CgroupEnd end;
  if (!is_own_cgroup2(directory)) return end;
  if (is_populated(directory)) {
    end.members = members_of(directory);
    end.empty = false;
    if (holds_any(directory, own_line)) return end;
    const auto deadline = std::chrono::steady_clock::now() + patience;
    do {
      keeper::kill_cgroup(directory.c_str());
      std::this_thread::sleep_for(kBetweenLooks);
      end.empty = !is_populated(directory);
    } while (!end.empty && std::chrono::steady_clock::now() < deadline);
  }
  if (end.empty) keeper::remove_cgroup(directory.c_str());
  return end;
}

}  // namespace corral::reap
