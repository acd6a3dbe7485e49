#include "reap/remnant_cgroup.h"

#include <linux/magic.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <sstream>
#include <thread>

#include "base/files.h"
#include "keeper/cgroup_files.h"
#include "keeper/keepers_below.h"
#include "keeper/kernel.h"

namespace corral::reap {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenLooks{5};
constexpr std::chrono::milliseconds kBetweenKeepers{20};
constexpr std::size_t kMostInGroup = 8192;  // the next look sees the rest
constexpr std::size_t kMostGroups = 256;    // groups that a server may have created inside

/// Created by our user, in the hierarchy that supports cgroup.kill.
bool is_own_cgroup2(const std::string& directory) {
  struct stat status {};
  struct statfs system {};
  return lstat(directory.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
         statfs(directory.c_str(), &system) == 0 && system.f_type == CGROUP2_SUPER_MAGIC;
}

bool is_populated(const std::string& directory) {
  return read_text(directory + "/cgroup.events").find("populated 1") != std::string::npos;
}

void add_pids(const std::string& directory, std::vector<pid_t>& pids) {
  std::istringstream numbers(read_text(directory + "/cgroup.procs"));
  for (pid_t pid = 0; pids.size() < kMostInGroup && numbers >> pid;) {
    if (pid > 0) pids.push_back(pid);  // 0: in a PID namespace that we cannot see
  }
}

/// Includes the groups below it.
std::vector<pid_t> pids_in(const std::string& directory) {
  std::vector<pid_t> pids;
  add_pids(directory, pids);
  std::error_code error;
  std::size_t groups = 0;
  for (std::filesystem::recursive_directory_iterator at(directory, error), end;
       !error && at != end && groups < kMostGroups; at.increment(error)) {
    if (!at->is_directory(error)) continue;
    ++groups;
    add_pids(at->path().string(), pids);
  }
  return pids;
}

bool member_is_over(const UniqueFd& pidfd) {
  pollfd ready{pidfd.get(), POLLIN, 0};
  return poll(&ready, 1, 0) == 1;
}

}  // namespace

CgroupRemnant::CgroupRemnant(std::string directory, Judge judge)
    : directory_(std::move(directory)), judge_(std::move(judge)), ours_(is_own_cgroup2(directory_)) {}

void CgroupRemnant::wait_for_keepers(std::chrono::milliseconds at_most) {
  const Clock::time_point deadline = Clock::now() + at_most;
  while (ours_ && keeper_inside(Wake::Stopped)) {
    keepers_had_time_ = Clock::now() >= deadline;
    if (keepers_had_time_) return;
    std::this_thread::sleep_for(kBetweenKeepers);
  }
}

CgroupEnd CgroupRemnant::end(std::chrono::milliseconds patience) const {
  CgroupEnd end;
  if (!ours_) return end;
  const Clock::time_point deadline = Clock::now() + patience;
  while (is_populated(directory_)) {
    const std::vector<Held> held = look();
    const bool any_left =
        std::any_of(held.begin(), held.end(), [](const Held& one) { return one.member.left; });
    const bool any_to_end =
        std::any_of(held.begin(), held.end(), [](const Held& one) { return !one.member.left; });
    for (const Held& one : held) {
      const auto known = std::find_if(end.members.begin(), end.members.end(),
                                      [&](const Member& before) { return before.pid == one.member.pid; });
      if (known == end.members.end()) end.members.push_back(one.member);
    }
    if ((any_left && !any_to_end) || Clock::now() >= deadline) break;
    if (any_left) {
      kill_one_by_one(held);
    } else {
      keeper::kill_cgroup(directory_.c_str());
    }
    std::this_thread::sleep_for(kBetweenLooks);
  }
  end.empty = !is_populated(directory_);
  const std::vector<pid_t> still = end.empty ? std::vector<pid_t>{} : pids_in(directory_);
  for (Member& member : end.members) {
    member.there = !member.left && std::find(still.begin(), still.end(), member.pid) != still.end();
  }
  if (end.empty) keeper::remove_cgroup(directory_.c_str());
  return end;
}

/// Each process is opened before it is examined, so that all facts belong to one process.
std::vector<CgroupRemnant::Held> CgroupRemnant::look() const {
  const bool keeper = !keepers_had_time_ && keeper_inside();
  std::vector<Held> held;
  for (const pid_t pid : pids_in(directory_)) {
    UniqueFd pidfd(keeper::pidfd_open(pid));
    Member member = judge_(pid);
    if (member.left == Outcome::Kind::OtherInstance && !keeper) member.left.reset();
    // Without a descriptor it can still be killed with the whole group, but not alone.
    if (pidfd.valid() && (!holds(pid) || member_is_over(pidfd))) continue;
    held.push_back({std::move(member), std::move(pidfd)});
  }
  return held;
}

/// Also true for a group below it: the name is random, so it cannot appear by chance.
bool CgroupRemnant::holds(pid_t pid) const {
  const std::string name = directory_.substr(directory_.rfind('/'));
  return read_text("/proc/" + std::to_string(pid) + "/cgroup").find(name) != std::string::npos;
}

/// Each process is opened before it is examined, so that a continued process belongs to this group.
bool CgroupRemnant::keeper_inside(Wake wake) const {
  bool found = false;
  for (const pid_t pid : pids_in(directory_)) {
    const UniqueFd pidfd(wake == Wake::No ? -1 : keeper::pidfd_open(pid));
    if (!keeper::is_keeper(pid, {})) continue;
    found = true;
    if (wake == Wake::No) return true;
    if (pidfd.valid() && holds(pid) && !member_is_over(pidfd)) {
      keeper::pidfd_send_signal(pidfd.get(), SIGCONT);
    }
  }
  return found;
}

void CgroupRemnant::kill_one_by_one(const std::vector<Held>& held) const {
  for (const Held& one : held) {
    if (!one.member.left && one.pidfd.valid()) keeper::pidfd_send_signal(one.pidfd.get(), SIGKILL);
  }
}

}  // namespace corral::reap
