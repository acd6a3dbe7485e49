// Chooses the cgroup for a daemon that a client starts. It must not be the client's own: if that is stopped
// or runs out of memory, every session of the user would end.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace corral::shim {

/// What the choice depends on; the texts are those of /proc.
struct CgroupFacts {
  std::string mountinfo;      // of this process
  std::string own_cgroup;     // of the client and everything that it has started
  std::string parent_cgroup;  // of the process that has adopted the new daemon
  bool manager = false;       // a service manager can create a scope
};

struct Home {
  enum class Action {
    Stay,     // the group does not end with the client
    Ask,      // ask the service manager for a scope
    Move,     // move it ourselves, to `directory`
    Nowhere,  // it would end with `directory`
  };
  Action action = Action::Stay;
  std::string directory;
};

/// Pure. `writable`: whether we may move processes into a directory of the hierarchy.
Home choose_home(const CgroupFacts& facts, const std::function<bool(const std::string&)>& writable,
                 uid_t user);

/// Reads the files of this process and of `parent`; without a service manager.
CgroupFacts read_cgroup_facts(pid_t parent);
bool may_put_processes_into(const std::string& directory);

/// Creates the directory if necessary and moves the process into it. False if either fails.
bool move_to(const std::string& directory, pid_t process);

/// Whether the user has a service manager; if so, `environment` names its runtime directory afterwards. After
/// `su` the variable may name another user's directory: then `usual` is tried. `is_ours`: whether a path is a
/// socket of this user.
bool point_to_manager(std::vector<std::string>& environment, const std::string& usual,
                      const std::function<bool(const std::string&)>& is_ours);

enum class Manager { OfTheUser, OfTheSystem };

/// The arguments that run a command in its own scope; `program` is systemd-run. Pure.
std::vector<std::string> scope_words(const std::string& program, Manager manager);

/// The arguments that run a command in its own scope, up to the command's name; empty if no service manager
/// can be asked. They run with `environment`, which supplies PATH and receives what they need to find the
/// manager.
std::vector<std::string> words_for_manager(std::vector<std::string>& environment);

}  // namespace corral::shim
