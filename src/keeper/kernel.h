// Kernel calls that glibc 2.36 does not wrap, and the clock. Header-only, so that the static helper links
// only libc.
#pragma once

#include <fcntl.h>
#include <linux/sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>

namespace corral::keeper {

using Micros = std::chrono::microseconds;

/// Monotonic time; only differences mean anything.
inline Micros now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::chrono::seconds(time.tv_sec) + Micros(time.tv_nsec / 1000);
}

/// CPU time used by this process; unlike `now` it does not depend on the load of the machine.
inline Micros used_time() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + Micros(time.tv_nsec / 1000);
}

inline int pidfd_open(pid_t pid) { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); }

inline int pidfd_send_signal(int pidfd, int signo) {
  return static_cast<int>(syscall(SYS_pidfd_send_signal, pidfd, signo, nullptr, 0));
}

/// Like fork, with namespace flags, and into a cgroup if one is given. The child gets a copy of the caller's
/// stack.
inline pid_t clone_process(std::uint64_t flags, int cgroup_fd = -1) {
  clone_args args{};
  args.flags = flags;
  if (cgroup_fd >= 0) {
    args.flags |= CLONE_INTO_CGROUP;
    args.cgroup = static_cast<std::uint64_t>(cgroup_fd);
  }
  constexpr std::uint64_t kSigchld = 17;  // avoids <signal.h> here
  args.exit_signal = kSigchld;
  const auto pid = static_cast<pid_t>(syscall(SYS_clone3, &args, sizeof args));
  if (pid >= 0 || errno != ENOSYS || cgroup_fd >= 0) return pid;
  // Linux before 5.3, and containers whose seccomp filter cannot inspect the struct.
  return static_cast<pid_t>(syscall(SYS_clone, flags | kSigchld, nullptr, nullptr, nullptr, nullptr));
}

/// For kernels before Linux 5.9, which have no call for a range of descriptors. Stops at the open-file
/// limit.
template <class Act>
void for_each_possible_fd(unsigned first, Act act) {
  rlimit limit{};  // not sysconf, which would pull half of stdio into a static program
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = 1024;
  constexpr rlim_t kEnough = 65536;  // some limits are a billion
  for (rlim_t fd = first; fd < limit.rlim_cur && fd < kEnough; ++fd) act(static_cast<int>(fd));
}

inline void close_from(unsigned first) {
  if (syscall(SYS_close_range, first, ~0U, 0) != 0) for_each_possible_fd(first, [](int fd) { close(fd); });
}

inline void close_on_exec_from(unsigned first) {
  constexpr unsigned kCloseRangeCloexec = 4;
  if (syscall(SYS_close_range, first, ~0U, kCloseRangeCloexec) == 0) return;
  for_each_possible_fd(first, [](int fd) { fcntl(fd, F_SETFD, FD_CLOEXEC); });
}

/// Replaces a standard descriptor with /dev/null: releases our copy and keeps the number occupied.
inline void let_go(int fd, int flags) {
  const int null = open("/dev/null", flags | O_CLOEXEC);
  if (null < 0) {
    close(fd);
    return;
  }
  dup2(null, fd);
  close(null);
}

}  // namespace corral::keeper
