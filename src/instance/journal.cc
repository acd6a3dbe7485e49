#include "instance/journal.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>

#include "base/unique_fd.h"
#include "base/unique_id.h"
#include "base/utc_time.h"
#include "keeper/kernel.h"
#include "keeper/proc_fs.h"
#include "proc/identity.h"

namespace corral::instance {
namespace {

registry::ProcessFacts as_facts(const proc::Identity& identity) {
  return {identity.pid, identity.pidfs_inode, identity.start_ticks, identity.uid,
          std::string(identity.handle.begin(), identity.handle.end())};
}

/// The pid may belong to another process by now. It counts only if its parent is the keeper, which is read
/// after the process was opened and while it runs.
registry::ProcessFacts facts_of_child(pid_t pid, pid_t keeper) {
  if (pid <= 0) return {};
  const UniqueFd pidfd(keeper::pidfd_open(pid));
  if (!pidfd.valid()) return {};
  registry::ProcessFacts facts = facts_of(pidfd.get());
  keeper::StatLine stat;
  const bool child = keeper::read_stat(pid, stat) && stat.parent == keeper;
  pollfd ended{pidfd.get(), POLLIN, 0};
  if (!child || poll(&ended, 1, 0) != 0) return {};
  return facts;
}

}  // namespace

registry::ProcessFacts facts_of(int pidfd) {
  if (pidfd < 0) return {};
  const Result<proc::Identity> identity = proc::identify(pidfd);
  return identity ? as_facts(*identity) : registry::ProcessFacts{};
}

registry::DaemonRecord record_of_this_process(const std::string& version) {
  constexpr std::size_t kIdBytes = 16;
  registry::DaemonRecord record;
  record.id = random_hex(kIdBytes);
  record.version = version;
  record.machine = machine_id();
  record.started_ms = unix_time_ms();
  struct stat status {};
  if (stat("/proc/self/ns/pid", &status) == 0) record.pid_namespace = status.st_ino;
  const UniqueFd self(keeper::pidfd_open(getpid()));
  const Result<proc::Identity> identity = proc::identify(self.get());
  if (!identity) return record;
  record.boot_id = identity->boot_id;
  record.process = as_facts(*identity);
  return record;
}

void Journal::about_to_start(const proc::Birth& birth, const std::string& server) {
  registry::InstanceRecord& record = open_[birth.instance];
  record.id = birth.instance;
  record.daemon = daemon_;
  record.server = server;
  record.cgroup = birth.cgroup;
  record.rlimit_tag = birth.rlimit_tag;
  record.container = birth.container;
  record.started_ms = unix_time_ms();
  registry_.journal(record);
}

void Journal::runs(const proc::ProcessTree& tree, pid_t server_pid) {
  const auto found = open_.find(tree.instance());
  if (found == open_.end()) return;
  registry::InstanceRecord& record = found->second;
  record.keeper = facts_of(tree.keeper_pidfd().get());
  record.process = facts_of_child(server_pid, tree.keeper());
  registry_.journal(record);
}

void Journal::ended(const std::string& instance, const std::string& cause) {
  if (open_.erase(instance) == 0) return;
  registry_.instance_ended(instance, unix_time_ms(), cause);
}

}  // namespace corral::instance
