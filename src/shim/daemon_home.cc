#include "shim/daemon_home.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <sstream>

#include "base/files.h"
#include "base/unique_fd.h"
#include "proc/cgroup.h"
#include "proc/command_lookup.h"

namespace corral::shim {
namespace {

/// The path in the hierarchy that service managers use: the unified one, or systemd's own in cgroup v1. On a
/// machine with both, the unified hierarchy is empty and everything is at its root.
std::string path_of(std::string_view cgroup) {
  std::string unified;
  std::string named;
  std::istringstream lines{std::string(cgroup)};
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("0::/")) unified = line.substr(3);
    constexpr std::string_view kNamed = ":name=systemd:";
    const std::size_t at = line.find(kNamed);
    if (at != std::string::npos) named = line.substr(at + kNamed.size());
  }
  const bool says_nothing = unified.empty() || unified == "/";
  return says_nothing && !named.empty() ? named : unified;
}

/// Whether the unit is a login. Without pam_systemd a login has no scope, and its shell stays in the unit of
/// the program that let the user in.
bool is_login(std::string_view unit) {
  if (unit.ends_with(".scope")) return unit.starts_with("session-");
  if (unit == "ssh.service" || unit == "sshd.service" || unit == "console-getty.service") return true;
  return unit.starts_with("ssh@") || unit.starts_with("sshd@") ||
         unit.find("getty@") != std::string_view::npos;
}

/// Whether the group is a unit that can be stopped separately. The units of a login and of the user's service
/// manager last as long as the user is logged in.
bool is_stoppable_unit(const std::string& path) {
  std::string unit;
  std::istringstream parts(path);
  for (std::string part; std::getline(parts, part, '/');) {
    if (part.ends_with(".service") || part.ends_with(".scope")) unit = part;
  }
  if (unit.empty()) return false;
  return !is_login(unit) && !unit.starts_with("user@");
}

/// The highest one is used: the client's group may be inside other groups that end as a whole.
std::string highest_writable(const std::string& mount, const std::string& own,
                             const std::function<bool(const std::string&)>& writable) {
  std::string highest;
  std::filesystem::path at(own);
  while (at.string().size() > mount.size()) {
    at = at.parent_path();
    if (writable(at.string())) highest = at.string();
  }
  return highest;
}

bool is_socket_of_ours(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode) && status.st_uid == geteuid();
}

}  // namespace

Home choose_home(const CgroupFacts& facts, const std::function<bool(const std::string&)>& writable,
                 uid_t user) {
  const std::string path = path_of(facts.own_cgroup);
  if (path.empty() || path == "/" || path == path_of(facts.parent_cgroup)) return {};
  if (facts.manager) return {Home::Action::Ask, ""};
  const auto own = proc::own_cgroup(facts.mountinfo, facts.own_cgroup);
  const auto mount = proc::own_cgroup(facts.mountinfo, "0::/\n");
  if (own && mount) {
    const std::string highest = highest_writable(*mount, *own, writable);
    // At the root, processes may exist beside groups; elsewhere a controller may forbid that.
    if (highest == *mount) return {Home::Action::Move, highest};
    // A service may be allowed to create groups (Delegate=yes). They end with it.
    if (!highest.empty() && !is_stoppable_unit(highest.substr(mount->size())))
      return {Home::Action::Move, highest + "/corral-daemon-" + std::to_string(user)};
  }
  if (is_stoppable_unit(path)) return {Home::Action::Nowhere, path};
  return {};
}

CgroupFacts read_cgroup_facts(pid_t parent) {
  return {read_text("/proc/self/mountinfo"), read_text("/proc/self/cgroup"),
          read_text("/proc/" + std::to_string(parent) + "/cgroup"), false};
}

bool may_put_processes_into(const std::string& directory) {
  return access((directory + "/cgroup.procs").c_str(), W_OK) == 0;
}

bool move_to(const std::string& directory, pid_t process) {
  if (mkdir(directory.c_str(), 0755) != 0 && errno != EEXIST) return false;
  const UniqueFd file(open((directory + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
  const std::string number = std::to_string(process);
  return file.valid() &&
         write(file.get(), number.data(), number.size()) == static_cast<ssize_t>(number.size());
}

bool point_to_manager(std::vector<std::string>& environment, const std::string& usual,
                      const std::function<bool(const std::string&)>& is_ours) {
  constexpr const char* kSocket = "/systemd/private";
  const std::string told(proc::environment_value(environment, "XDG_RUNTIME_DIR"));
  if (!told.empty() && is_ours(told + kSocket)) return true;
  if (!is_ours(usual + kSocket)) return false;
  std::erase_if(environment,
                [](const std::string& variable) { return variable.starts_with("XDG_RUNTIME_DIR="); });
  environment.push_back("XDG_RUNTIME_DIR=" + usual);
  return true;
}

std::vector<std::string> scope_words(const std::string& program, Manager manager) {
  std::vector<std::string> words = {program};
  if (manager == Manager::OfTheUser) words.emplace_back("--user");
  // Without Delegate= the scope has OOMPolicy=stop (systemd.scope(5)): if the OOM killer ended one server,
  // the daemon and all other servers would be stopped.
  for (const char* word :
       {"--scope", "--quiet", "--description=corral daemon", "--property=Delegate=yes", "--"}) {
    words.emplace_back(word);
  }
  return words;
}

std::vector<std::string> words_for_manager(std::vector<std::string>& environment) {
  const Result<proc::Executable> program = proc::find_command("systemd-run", environment, "");
  if (!program) return {};
  const std::string usual = "/run/user/" + std::to_string(geteuid());
  if (point_to_manager(environment, usual, is_socket_of_ours))
    return scope_words(program->path, Manager::OfTheUser);
  const bool systems = geteuid() == 0 && is_socket_of_ours("/run/systemd/private");
  return systems ? scope_words(program->path, Manager::OfTheSystem) : std::vector<std::string>();
}

}  // namespace corral::shim
