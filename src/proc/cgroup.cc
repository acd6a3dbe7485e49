#include "proc/cgroup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <sstream>

#include "base/files.h"
#include "base/unique_fd.h"
#include "keeper/cgroup_files.h"

namespace corral::proc {
namespace {

/// Without O_CREAT: if the file is missing, the controller is missing.
bool write_text(const std::string& path, const std::string& text) {
  const UniqueFd file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file.valid() && write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

/// Finds the mount point of the unified hierarchy: "ID PARENT MAJ:MIN ROOT MOUNTPOINT OPTIONS - cgroup2 ...".
std::optional<std::string> cgroup2_mount(std::string_view mountinfo) {
  std::istringstream lines{std::string(mountinfo)};
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" - cgroup2 ") == std::string::npos) continue;
    std::istringstream fields(line);
    std::string id, parent, device, root, mount;
    fields >> id >> parent >> device >> root >> mount;
    if (root == "/") return mount;
  }
  return std::nullopt;
}

/// Enables a missing controller only at the root of the hierarchy. Anywhere else the parent contains
/// processes, including this one: the kernel would refuse, or turn the group into a threaded one permanently.
bool take(const std::string& directory, const std::string& controller, const std::string& file,
          const std::string& value) {
  const std::string path = directory + "/" + file;
  const std::string parent = std::filesystem::path(directory).parent_path().string();
  const bool parent_is_root = access((parent + "/cgroup.type").c_str(), F_OK) != 0;
  if (access(path.c_str(), F_OK) != 0 && parent_is_root) {
    write_text(parent + "/cgroup.subtree_control", "+" + controller);
  }
  return write_text(path, value);
}

/// Removes directories that were left behind. The kernel refuses while a process is in one; a new one may be
/// waiting for its first process.
void remove_litter(const std::string& parent) {
  constexpr auto kYoung = std::chrono::minutes(1);
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(parent, error)) {
    if (!entry.path().filename().string().starts_with("corral-")) continue;
    const auto age = std::filesystem::file_time_type::clock::now() - entry.last_write_time(error);
    if (age > kYoung) keeper::remove_cgroup(entry.path().c_str());
  }
}

}  // namespace

std::optional<std::string> own_cgroup(std::string_view mountinfo, std::string_view cgroup) {
  const std::optional<std::string> mount = cgroup2_mount(mountinfo);
  if (!mount) return std::nullopt;
  std::istringstream lines{std::string(cgroup)};
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("0::/")) continue;
    const std::string path = line.substr(3);
    if (path.find("/..") != std::string::npos) return std::nullopt;  // outside of what our namespace shows
    return path == "/" ? *mount : *mount + path;
  }
  return std::nullopt;
}

std::optional<std::string> make_cgroup(const std::string& instance) {
  const auto own = own_cgroup(read_text("/proc/self/mountinfo"), read_text("/proc/self/cgroup"));
  // Moving a process also needs write access to the common ancestor, which is this directory.
  if (!own || access((*own + "/cgroup.procs").c_str(), W_OK) != 0) return std::nullopt;
  remove_litter(*own);
  const std::string directory = *own + "/corral-" + instance;
  if (mkdir(directory.c_str(), 0755) != 0) return std::nullopt;
  // Not used, and the accounting costs time at every context switch.
  write_text(directory + "/cgroup.pressure", "0");
  return directory;
}

Enforcement apply_limits(const std::string& directory, const Limits& limits) {
  using keeper::Enforcer;
  constexpr std::uint32_t kPeriodMicros = 100'000;
  Enforcement held;
  if (limits.memory_bytes && take(directory, "memory", "memory.max", std::to_string(*limits.memory_bytes))) {
    held.memory = Enforcer::Cgroup;
    write_text(directory + "/memory.swap.max", "0");   // otherwise the memory would only be swapped out
    write_text(directory + "/memory.oom.group", "1");  // a server that is killed in part is of no use
  }
  if (limits.processes && take(directory, "pids", "pids.max", std::to_string(*limits.processes))) {
    held.processes = Enforcer::Cgroup;
  }
  if (limits.cpu_thousandths) {
    const std::uint64_t quota = std::uint64_t{*limits.cpu_thousandths} * kPeriodMicros / 1000;
    const std::string value = std::to_string(quota) + " " + std::to_string(kPeriodMicros);
    if (take(directory, "cpu", "cpu.max", value)) held.cpu = Enforcer::Cgroup;
  }
  return held;
}

}  // namespace corral::proc
