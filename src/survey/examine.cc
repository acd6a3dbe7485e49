#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <string_view>
#include <thread>

#include "keeper/kernel.h"
#include "proc/proc_files.h"
#include "proc/proc_texts.h"
#include "survey/survey.h"

namespace corral::survey {
namespace {

/// Long enough for the kernel's clock of 100 ticks a second to tell a busy process from an idle one.
constexpr std::chrono::milliseconds kCpuSample{200};

/// The process of the snapshot, held by a pidfd. An error if another process has its pid now.
Result<proc::Identity> identify_same(const Process& process) {
  const UniqueFd pidfd(keeper::pidfd_open(process.pid));
  if (!pidfd.valid()) return Error{"the process is gone"};
  Result<proc::Identity> identity = proc::identify(pidfd.get());
  if (identity && identity->start_ticks != process.start_ticks) return Error{"another process has its pid"};
  return identity;
}

void identify_tree(Server& server, const ProcessTable& table) {
  std::vector<pid_t> alive;
  for (const pid_t pid : server.tree) {
    Result<proc::Identity> identity = identify_same(*table.find(pid));
    if (!identity) continue;
    alive.push_back(pid);
    server.identities.push_back(std::move(*identity));
  }
  server.tree = std::move(alive);
}

void read_tree(Server& server) {
  for (const pid_t pid : server.tree) {
    const Details details = read_details(pid);
    server.debugged |= details.tracer != 0;
    server.in_container |= pid == server.pid && details.in_other_pid_namespace;
    const Memory memory = read_memory(pid);
    server.memory.resident += memory.resident;
    server.memory.proportional += memory.proportional;
    server.memory.swapped += memory.swapped;
  }
}

/// When a file got its content: its last change, or its creation if that is later (package managers write
/// files with old dates).
std::chrono::system_clock::time_point file_time(const std::string& path) {
  struct statx status {};
  if (statx(AT_FDCWD, path.c_str(), 0, STATX_MTIME | STATX_BTIME, &status) != 0) return {};
  auto latest = std::chrono::system_clock::from_time_t(status.stx_mtime.tv_sec);
  if ((status.stx_mask & STATX_BTIME) != 0) {
    latest = std::max(latest, std::chrono::system_clock::from_time_t(status.stx_btime.tv_sec));
  }
  return latest;
}

void find_stale_file(Server& server, const Snapshot& snapshot) {
  const Process& top = *snapshot.processes.find(server.pid);
  for (const pid_t pid : server.tree) {
    const Process* process = snapshot.processes.find(pid);
    // Interpreters and shells are replaced by system updates, which says nothing about the server.
    const auto command = snapshot.commands.find(pid);
    const bool program_of_its_own =
        command != snapshot.commands.end() && !command->second.is_shell && command->second.launcher.empty();
    if (process->executable_replaced && program_of_its_own) {
      server.stale_file = process->executable;
      return;
    }
  }
  // One second of tolerance: file systems and the start time of a process are not exact.
  const auto started = snapshot.processes.started(top) + std::chrono::seconds(1);
  for (const std::string& file : {server.command.script, server.command.manifest}) {
    if (file.empty() || file_time(file) <= started) continue;
    server.stale_file = file;
    // What is on disk now is not what is running.
    if (file_time(server.command.manifest) > started) server.command.version.clear();
    return;
  }
}

std::uint64_t cpu_ticks_of(const Server& server) {
  std::uint64_t ticks = 0;
  for (const pid_t pid : server.tree) {
    const std::string file = "/proc/" + std::to_string(pid) + "/stat";
    const std::optional<std::string> text = proc::read_whole(AT_FDCWD, file.c_str(), 4096);
    const auto now = text ? proc::parse_process_stat(*text) : std::nullopt;
    if (now) ticks += now->cpu_ticks;
  }
  return ticks;
}

void sample_orphans(Survey& survey) {
  std::vector<std::pair<Server*, std::uint64_t>> before;
  for (Server& server : survey.servers) {
    if (server.state == Server::State::Orphan) before.emplace_back(&server, cpu_ticks_of(server));
  }
  if (before.empty()) return;
  const auto start = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(kCpuSample);
  for (auto& [server, ticks] : before) {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    const std::uint64_t after = cpu_ticks_of(*server);
    const double used = after > ticks ? static_cast<double>(after - ticks) : 0;
    server->cpu = used / static_cast<double>(sysconf(_SC_CLK_TCK)) / passed.count();
  }
}

}  // namespace

void examine(Survey& survey, const Snapshot& snapshot) {
  for (Server& server : survey.servers) {
    identify_tree(server, snapshot.processes);
    read_tree(server);
    find_stale_file(server, snapshot);
  }
  std::erase_if(survey.servers, [](const Server& server) { return server.tree.empty(); });
  sample_orphans(survey);
}

Result<Survey> look_around() {
  Result<Snapshot> snapshot = take_snapshot(own_places());
  if (!snapshot) return snapshot.error();
  Survey survey = judge(*snapshot);
  examine(survey, *snapshot);
  return survey;
}

}  // namespace corral::survey
