// Where a daemon that a client starts may live. Not in the cgroup of that client: whoever stops it, or ends
// it for want of memory, would end every session of the user's.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace corral::shim {

/// What the kernel says, as texts of /proc.
struct Standing {
  std::string mountinfo;      // our own
  std::string own_cgroup;     // of the client and everything that it has started so far
  std::string parent_cgroup;  // of the process that has adopted the daemon to be
  bool manager = false;       // a service manager can be asked for a group of its own
};

struct Home {
  enum class Way {
    Stay,     // nobody's group, or the whole machine's
    Ask,      // the service manager makes one
    Move,     // we may do so ourselves: `directory`
    Nowhere,  // it would end with `directory`
  };
  Way way = Way::Stay;
  std::string directory;
};

/// Pure. `writable`: whether we may put processes into a directory of the hierarchy.
Home choose_home(const Standing& standing, const std::function<bool(const std::string&)>& writable,
                 uid_t user);

Standing standing_below(pid_t parent, bool manager);
bool may_put_processes_into(const std::string& directory);

/// Makes the directory if there is none, and moves the process there.
bool move_to(const std::string& directory, pid_t process);

/// Whether there is a service manager of the user's; its runtime directory is then the one in `environment`.
/// After `su` the variable may name that of somebody else: then `usual` is tried. `is_ours`: whether a path
/// is a socket of the user's.
bool point_to_manager(std::vector<std::string>& environment, const std::string& usual,
                      const std::function<bool(const std::string&)>& is_ours);

enum class Manager { OfTheUser, OfTheSystem };

/// The words that make a command run in a scope of its own, with `program` for systemd-run. Pure.
std::vector<std::string> scope_words(const std::string& program, Manager manager);

/// The words that make a command run in a scope of its own, up to its first word; empty = no service manager
/// of ours can be asked. `environment` is the one that they run with: it has their PATH, and gets what they
/// need to find the manager.
std::vector<std::string> words_for_manager(std::vector<std::string>& environment);

}  // namespace corral::shim
