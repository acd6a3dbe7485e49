// The few kernel calls that glibc 2.36 does not wrap, and the clock. Header-only, so that the static helper
// links nothing but libc.
#pragma once

#include <fcntl.h>
#include <linux/sched.h>
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

inline int pidfd_open(pid_t pid) { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); }

inline int pidfd_send_signal(int pidfd, int signo) {
  return static_cast<int>(syscall(SYS_pidfd_send_signal, pidfd, signo, nullptr, 0));
}

/// Like fork, with namespace flags, and into a cgroup if one is given. Needs no stack: the child gets a copy
/// of ours.
inline pid_t clone_process(std::uint64_t flags, int cgroup_fd = -1) {
  clone_args args{};
  args.flags = flags;
  if (cgroup_fd >= 0) {
    args.flags |= CLONE_INTO_CGROUP;
    args.cgroup = static_cast<std::uint64_t>(cgroup_fd);
  }
  args.exit_signal = 17;  // SIGCHLD; <signal.h> is not wanted here
  return static_cast<pid_t>(syscall(SYS_clone3, &args, sizeof args));
}

/// Closes every descriptor from `first` on. Kernels before 5.9 lack the call; there the descriptors that we
/// open ourselves are close-on-exec anyway.
inline void close_from(unsigned first) { syscall(SYS_close_range, first, ~0U, 0); }

inline void close_on_exec_from(unsigned first) {
  constexpr unsigned kCloseRangeCloexec = 4;
  syscall(SYS_close_range, first, ~0U, kCloseRangeCloexec);
}

/// Points a standard descriptor at /dev/null: our copy is let go, the number stays taken.
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
