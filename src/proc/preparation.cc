#include "proc/preparation.h"

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "keeper/launch.h"
#include "proc/cgroup.h"
#include "proc/command_lookup.h"
#include "proc/container_command.h"

namespace corral::proc {
namespace {

namespace fs = std::filesystem;

/// Which mechanism enforces a limit: a controller if one accepted it, otherwise the keeper's watchdog.
keeper::PlanLimit held_limit(std::uint64_t value, keeper::Enforcer by) {
  if (value == 0) return {0, keeper::Enforcer::None};
  return {value, by == keeper::Enforcer::None ? keeper::Enforcer::Watchdog : by};
}

Result<void> prepare_limits(const LaunchSpec& spec, Preparation& plan) {
  Limits limits = spec.limits;
  // The first process of a PID namespace is corral's, but the kernel counts it.
  if (limits.processes && spec.containment == Containment::Strict) ++*limits.processes;
  const Enforcement held =
      plan.strings.cgroup.empty() ? Enforcement{} : apply_limits(plan.strings.cgroup, limits);
  plan.header.memory = held_limit(limits.memory_bytes.value_or(0), held.memory);
  plan.header.pids = held_limit(spec.limits.processes.value_or(0), held.processes);
  plan.header.cpu = {limits.cpu_thousandths.value_or(0), held.cpu};
  constexpr std::uint64_t kMostCounted = 8000;  // the keeper's list of processes ends soon after
  if (plan.header.pids.by == keeper::Enforcer::Watchdog && plan.header.pids.value > kMostCounted) {
    plan.warnings.push_back(
        "a limit of more than 8000 processes needs a cgroup, and none is delegated to this "
        "session");
  }
  if (limits.cpu_thousandths && held.cpu == keeper::Enforcer::None) {
    const std::string why =
        "the cpu limit cannot be enforced here: the cgroup of this process has no cpu controller for its "
        "children";
    if (spec.containment == Containment::Strict) {
      // Delegate= cannot help: a group that contains processes, including this one, cannot enable controllers
      // for its children.
      return Error{why +
                   "; leave out --cpu, or run corral and the server in one systemd scope: `systemd-run "
                   "--user --scope -p CPUQuota=50% corral run ...`"};
    }
    plan.warnings.push_back(why + "; the server runs without it");
  }
  return {};
}

/// The directory must not be writable by other users, because the id in it decides what is removed.
Result<void> prepare_container(const LaunchSpec& spec, Preparation& plan) {
  std::error_code error;
  const fs::path scratch = fs::temp_directory_path(error);
  std::string folder = (error ? fs::path("/tmp") : scratch) / "corral-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) {
    return Error{"cannot create a directory for the container's id in '" + scratch.string() +
                 "': " + strerror(errno) + "; set TMPDIR to a directory that you may write to"};
  }
  plan.scratch = folder;
  ContainerCommand container =
      container_command(spec.argv, spec.environment, plan.strings.executable, plan.header.instance, folder);
  plan.strings.argv = std::move(container.argv);
  plan.strings.terminators.push_back(container_removal(container.removal));
  plan.container = std::move(container.removal);
  return {};
}

Result<void> check_directory(const std::string& directory) {
  std::error_code error;
  const fs::file_status status = fs::status(directory, error);
  const std::string what = "the working directory '" + directory + "' ";
  if (status.type() == fs::file_type::not_found) {
    return Error{what + "does not exist: create it, or name another one (`cwd`, --cwd)"};
  }
  if (status.type() == fs::file_type::none) {
    return Error{what + "cannot be looked at: " + strerror(error.value()) +
                 "; name another one (`cwd`, --cwd), or give its parents x permission"};
  }
  if (!fs::is_directory(status)) return Error{what + "is not a directory: name the one that has the file"};
  if (access(directory.c_str(), X_OK) != 0) {
    return Error{what + "cannot be entered: " + strerror(errno) + "; use a directory with x permission"};
  }
  return {};
}

}  // namespace

Result<Preparation> prepare(const LaunchSpec& spec, const std::string& instance) {
  if (spec.argv.empty()) return Error{"the command is empty: name the server's program after --"};
  if (!spec.directory.empty()) {
    Result<void> entered = check_directory(spec.directory);
    if (!entered) return entered.error();
  }
  Result<Executable> executable = find_command(spec.argv.front(), spec.environment, spec.directory);
  if (!executable) return executable.error();

  Preparation plan;
  // Absolute, because the keeper changes the working directory before it executes the file.
  std::error_code error;
  plan.strings.executable = fs::absolute(executable->path, error).string();
  plan.strings.directory = spec.directory;
  plan.strings.argv = spec.argv;
  keeper::PlanHeader& header = plan.header;
  memcpy(header.instance, instance.c_str(), instance.size() + 1);
  header.owner = getpid();
  header.rlimit_tag = keeper::choose_rlimit_tag();
  header.pid_namespace = spec.containment == Containment::Strict;
  header.watch_stdin = 1;
  header.watch_stdout = spec.watch_output;
  header.report = spec.report >= 0;
  header.graces.stdin_closed = spec.stdin_grace;
  header.graces.term = spec.term_grace;
  header.graces.kill = spec.kill_grace;
  if (spec.containment != Containment::Basic) plan.strings.cgroup = make_cgroup(instance).value_or("");
  Result<void> limits = prepare_limits(spec, plan);
  if (!limits) {
    abandon(plan);
    return limits.error();
  }
  if (is_container_run(spec.argv)) {
    const Result<void> prepared = prepare_container(spec, plan);
    if (!prepared) {
      abandon(plan);
      return prepared.error();
    }
  }
  if (!spec.on_stop.empty()) {
    plan.strings.terminators.push_back({keeper::TerminatorKind::OnStop, {"/bin/sh", "-c", spec.on_stop}});
  }
  return plan;
}

void abandon(const Preparation& preparation) {
  if (!preparation.scratch.empty()) rmdir(preparation.scratch.c_str());
  if (!preparation.strings.cgroup.empty()) rmdir(preparation.strings.cgroup.c_str());
}

}  // namespace corral::proc
