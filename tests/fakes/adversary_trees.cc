#include "adversary_trees.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <vector>

namespace corral::fakes {
namespace {

// Set once before the first fork; every descendant has its own copy.
struct Growth {
  const AdversaryOptions& options;
  Deadline deadline;
  int ready_fd;
};

void say_ready(int fd) {
  const char byte = '.';
  while (write(fd, &byte, 1) < 0 && errno == EINTR) {
  }
}

void name_myself() { prctl(PR_SET_NAME, "adv-helper"); }

void ignore_polite_signals() {
  for (const int number : {SIGTERM, SIGHUP, SIGINT}) signal(number, SIG_IGN);
}

// Runs body in a new child; false if fork was refused.
template <typename Body>
bool child(const Growth& growth, Body body) {
  const pid_t pid = fork();
  if (pid < 0) return false;
  if (pid > 0) return true;
  name_myself();
  end_by_itself(growth.deadline);
  body();
  _exit(0);
}

// The same after a double fork and setsid: nobody's child, nobody's group.
template <typename Body>
bool daemon_child(const Growth& growth, Body body) {
  const pid_t middle = fork();
  if (middle < 0) return false;
  if (middle == 0) {
    end_by_itself(growth.deadline);
    const bool forked = child(growth, [&] {
      setsid();
      ignore_polite_signals();
      body();
    });
    _exit(forked ? 0 : 1);
  }
  int status = 0;
  while (waitpid(middle, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

[[noreturn]] void exec_helper(const Growth& growth, const std::string& program, bool become_root) {
  const std::string tag = "--tag=" + growth.options.tag;
  const std::string life = "--life=" + std::to_string(growth.options.life_seconds);
  const std::string ready = "--ready-fd=" + std::to_string(growth.ready_fd);
  std::vector<const char*> argv = {program.c_str(), "--helper", tag.c_str(), life.c_str(), ready.c_str()};
  if (become_root) argv.push_back("--become-root");
  argv.push_back(nullptr);
  const char* const no_environment[] = {nullptr};
  execve(program.c_str(), const_cast<char* const*>(argv.data()), const_cast<char* const*>(no_environment));
  _exit(127);
}

bool plain(const Growth& growth) {
  return child(growth, [&] {
    say_ready(growth.ready_fd);
    idle_for_ever();
  });
}

bool own_group(const Growth& growth) {
  return child(growth, [&] {
    setpgid(0, 0);
    say_ready(growth.ready_fd);
    idle_for_ever();
  });
}

bool daemon(const Growth& growth) {
  return daemon_child(growth, [&] {
    say_ready(growth.ready_fd);
    idle_for_ever();
  });
}

bool closed_daemon(const Growth& growth) {
  return daemon_child(growth, [&] {
    say_ready(growth.ready_fd);
    close_range(0, ~0U, 0);
    idle_for_ever();
  });
}

bool stopped_daemon(const Growth& growth) {
  return daemon_child(growth, [&] {
    say_ready(growth.ready_fd);
    for (;;) raise(SIGSTOP);
  });
}

bool bare_daemon(const Growth& growth) {
  return daemon_child(growth, [&] { exec_helper(growth, growth.options.program, false); });
}

bool stdout_holder(const Growth& growth) {
  return daemon_child(growth, [&] {
    say_ready(growth.ready_fd);
    close(0);
    close_range(2, ~0U, 0);
    idle_for_ever();
  });
}

bool setuid_child(const Growth& growth) {
  return child(growth, [&] { exec_helper(growth, growth.options.setuid_program, true); });
}

enum class Hop { SameSession, NewSession };

// A pid that changes every few milliseconds, long enough for every ending here, and then slowly: if nobody
// reaps, the dead must not fill the process table of the machine.
constexpr int kFastHops = 800;

void hop_for_ever(const Growth& growth, Hop hop) {
  ignore_polite_signals();
  say_ready(growth.ready_fd);
  close(growth.ready_fd);
  for (int hops = 0; !growth.deadline.passed(); ++hops) {
    const pid_t next = fork();
    if (next > 0) _exit(0);
    if (next < 0) {
      sleep_ms(1);
      continue;
    }
    end_by_itself(growth.deadline);
    if (hop == Hop::NewSession) setsid();
    sleep_ms(hops < kFastHops ? 2 : 100);
  }
}

bool hopper(const Growth& growth) {
  return child(growth, [&] { hop_for_ever(growth, Hop::SameSession); });
}

bool session_hopper(const Growth& growth) {
  return child(growth, [&] { hop_for_ever(growth, Hop::NewSession); });
}

// Changes its pid as fast as the machine can, in a session of its own each time. Only for a PID namespace
// with a small pid_max: the dead would fill the process table of the machine. It needs no timer, which would
// slow it down: each of them reads the clock before it forks, and nobody can stop one for long.
bool rusher(const Growth& growth) {
  return child(growth, [&] {
    ignore_polite_signals();
    say_ready(growth.ready_fd);
    close(growth.ready_fd);
    while (!growth.deadline.passed()) {
      const pid_t next = fork();
      if (next > 0) _exit(0);
      if (next == 0) setsid();
    }
  });
}

// Process `index` of a ternary tree (children 3i+1 .. 3i+3), index 0 being the caller.
bool ternary(const Growth& growth, int index, int count) {
  for (int below = 3 * index + 1; below <= 3 * index + 3 && below <= count; ++below) {
    const bool forked = child(growth, [&] {
      if (!ternary(growth, below, count)) _exit(1);
      say_ready(growth.ready_fd);
      idle_for_ever();
    });
    if (!forked) return false;
  }
  return true;
}

bool chain(const Growth& growth, int count) {
  if (count == 0) return true;
  return child(growth, [&] {
    if (!chain(growth, count - 1)) _exit(1);
    say_ready(growth.ready_fd);
    idle_for_ever();
  });
}

using Maker = bool (*)(const Growth&);

bool repeat(const Growth& growth, int count, Maker make) {
  for (int i = 0; i < count; ++i) {
    if (!make(growth)) return false;
  }
  return true;
}

constexpr int kHoppersInMixed = 8;

bool mixed(const Growth& growth, int count) {
  constexpr std::array<Maker, 6> kMakers = {own_group,      daemon,      closed_daemon,
                                            stopped_daemon, bare_daemon, plain};
  for (int i = 0; i < count; ++i) {
    if (!kMakers[static_cast<std::size_t>(i) % kMakers.size()](growth)) return false;
  }
  return repeat(growth, kHoppersInMixed / 2, hopper) && repeat(growth, kHoppersInMixed / 2, session_hopper);
}

// How many ready bytes to wait for, or -1.
int build(const Growth& growth, const std::string& kind, int count) {
  struct Kind {
    const char* name;
    Maker make;
  };
  constexpr std::array<Kind, 11> kKinds = {{{"flat", plain},
                                            {"groups", own_group},
                                            {"daemons", daemon},
                                            {"closed", closed_daemon},
                                            {"stopped", stopped_daemon},
                                            {"bare", bare_daemon},
                                            {"hoppers", hopper},
                                            {"session-hoppers", session_hopper},
                                            {"rushers", rusher},
                                            {"holder", stdout_holder},
                                            {"setuid", setuid_child}}};
  if (kind == "tree") return ternary(growth, 0, count) ? count : -1;
  if (kind == "chain") return chain(growth, count) ? count : -1;
  if (kind == "mixed") return mixed(growth, count) ? count + kHoppersInMixed : -1;
  for (const Kind& known : kKinds) {
    if (kind == known.name) return repeat(growth, count, known.make) ? count : -1;
  }
  return -1;
}

}  // namespace

bool grow(const AdversaryOptions& options, const std::string& kind_and_count) {
  const std::size_t colon = kind_and_count.find(':');
  if (colon == std::string::npos) return false;
  int ends[2];
  if (pipe(ends) != 0) return false;

  const Growth growth{options, options.deadline(), ends[1]};
  int missing = build(growth, kind_and_count.substr(0, colon), std::stoi(kind_and_count.substr(colon + 1)));
  close(ends[1]);

  bool complete = missing >= 0;
  while (missing > 0) {
    char bytes[256];
    const ssize_t got = read(ends[0], bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      complete = false;
      break;
    }
    missing -= static_cast<int>(got);
  }
  close(ends[0]);
  return complete;
}

void run_helper(const AdversaryOptions& options) {
  name_myself();
  end_by_itself(options.deadline());
  ignore_polite_signals();
  if (options.become_root && setresuid(0, 0, 0) != 0) _exit(1);
  if (options.ready_fd >= 0) {
    say_ready(options.ready_fd);
    close(options.ready_fd);
  }
  idle_for_ever();
}

}  // namespace corral::fakes
