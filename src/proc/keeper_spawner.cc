#include "proc/keeper_spawner.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "base/unique_id.h"
#include "keeper/kernel.h"
#include "keeper/lifeline.h"
#include "proc/open_files.h"
#include "proc/preparation.h"

namespace corral::proc {
namespace {

namespace fs = std::filesystem;

std::string spawn_failure(int error) {
  std::string message = std::string("cannot start the keeper: ") + strerror(error);
  if (error == EMFILE || error == ENFILE) return message + "; raise the open-file limit (`ulimit -n`)";
  if (error != EAGAIN && error != ENOMEM)
    return message + "; reinstall corral so that its helper is beside it";
  rlimit limit{};
  getrlimit(RLIMIT_NPROC, &limit);
  message += "; the process limit is reached for user " + std::to_string(getuid());
  if (limit.rlim_cur != RLIM_INFINITY)
    message += " (limit " + std::to_string(limit.rlim_cur) + ", see `ulimit -u`)";
  return message + ": end some, or raise the limit";
}

/// Uses posix_spawn only: it stays fast when the owner is large, and it needs no code between fork and exec.
class KeeperStart {
 public:
  KeeperStart() {
    posix_spawn_file_actions_init(&files_);
    posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    // Its own session from the first instruction, so that no key pressed in the client's terminal reaches it.
    posix_spawnattr_setflags(&attributes_,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  KeeperStart(const KeeperStart&) = delete;
  KeeperStart& operator=(const KeeperStart&) = delete;
  ~KeeperStart() {
    posix_spawn_file_actions_destroy(&files_);
    posix_spawnattr_destroy(&attributes_);
  }

  /// Uses a copy above all targets, so that no dup2 overwrites the source of a later one.
  void give(int fd, int as) {
    copies_.emplace_back(fcntl(fd, F_DUPFD_CLOEXEC, keeper::kFirstFreeFd));
    complete_ = complete_ && copies_.back().valid() &&
                posix_spawn_file_actions_adddup2(&files_, copies_.back().get(), as) == 0;
  }

  int start(const std::string& helper, const std::string& instance,
            const std::vector<std::string>& environment, pid_t& pid) {
    if (!complete_) return EMFILE;
    std::array<char*, 3> arguments = {const_cast<char*>("corral-keeper"), const_cast<char*>(instance.c_str()),
                                      nullptr};
    std::vector<char*> variables;
    variables.reserve(environment.size() + 1);
    for (const std::string& variable : environment) variables.push_back(const_cast<char*>(variable.c_str()));
    variables.push_back(nullptr);
    return posix_spawn(&pid, helper.c_str(), &files_, &attributes_, arguments.data(), variables.data());
  }

 private:
  posix_spawn_file_actions_t files_;
  posix_spawnattr_t attributes_;
  std::vector<UniqueFd> copies_;
  bool complete_ = true;
};

/// The cookie identifies the processes of this instance, whatever their parent is (keeper/mark.h).
std::vector<std::string> with_cookie(std::vector<std::string> environment, const std::string& instance) {
  std::erase_if(environment, [](const std::string& entry) { return entry.starts_with("CORRAL_INSTANCE="); });
  environment.push_back("CORRAL_INSTANCE=" + instance);
  return environment;
}

/// Opens the helper above the descriptor numbers of the keeper, so that none of them replaces it.
UniqueFd open_helper(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_PATH | O_CLOEXEC));
  return UniqueFd(file.valid() ? fcntl(file.get(), F_DUPFD_CLOEXEC, keeper::kFirstFreeFd) : -1);
}

}  // namespace

KeeperSpawner::KeeperSpawner(std::string helper)
    : helper_(std::move(helper)), file_(open_helper(helper_)), open_files_(soft_open_files()) {}

std::string KeeperSpawner::executable() const {
  return file_.valid() ? "/proc/self/fd/" + std::to_string(file_.get()) : helper_;
}

keeper::FileId KeeperSpawner::helper_file() const { return keeper::file_id(executable().c_str()); }

Result<KeeperSpawner> KeeperSpawner::create() {
  std::error_code error;
  const fs::path own_path = fs::read_symlink("/proc/self/exe", error);
  if (error) {
    return Error{
        "/proc is not mounted, and corral needs it to find the processes of a server: mount it with " +
        std::string("`mount -t proc proc /proc`")};
  }
  const fs::path helper = own_path.parent_path().parent_path() / "libexec/corral/corral-keeper";
  if (access(helper.c_str(), X_OK) != 0) {
    return Error{"the helper '" + helper.string() +
                 "' is missing: reinstall corral, so that bin/corral and " +
                 "libexec/corral/corral-keeper have the same prefix"};
  }
  return KeeperSpawner(helper.string());
}

Result<ProcessTree> KeeperSpawner::spawn(const LaunchSpec& spec) {
  ProcessTree::Parts parts;
  parts.instance = random_instance_id();
  Result<Preparation> prepared = prepare(spec, parts.instance);
  if (!prepared) return prepared.error();
  prepared->header.open_files = open_files_;
  parts.plan = plan_bytes(prepared->header, prepared->strings);
  parts.warnings = prepared->warnings;
  Result<UniqueFd> plan_file = seal(parts.plan);
  int line[2] = {-1, -1};
  if (!plan_file || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, line) != 0) {
    const int error = errno;
    abandon(*prepared);
    if (!plan_file) return plan_file.error();
    return Error{spawn_failure(error)};
  }
  parts.lifeline = UniqueFd(line[0]);
  const UniqueFd keeper_end(line[1]);

  KeeperStart start;
  start.give(spec.input, STDIN_FILENO);
  start.give(spec.output, STDOUT_FILENO);
  start.give(spec.error, STDERR_FILENO);
  start.give(keeper_end.get(), keeper::kLifelineFd);
  start.give(plan_file->get(), keeper::kPlanFd);
  if (spec.report >= 0) start.give(spec.report, keeper::kReportFd);
  if (spec.before_start)
    spec.before_start(
        {parts.instance, prepared->strings.cgroup, prepared->header.rlimit_tag, prepared->container});
  const int error =
      start.start(executable(), parts.instance, with_cookie(spec.environment, parts.instance), parts.keeper);
  if (error != 0) {
    abandon(*prepared);
    return Error{spawn_failure(error)};
  }
  parts.keeper_pidfd = UniqueFd(keeper::pidfd_open(parts.keeper));
  return ProcessTree(std::move(parts));
}

std::string random_instance_id() { return random_hex(keeper::kInstanceIdLength / 2); }

}  // namespace corral::proc
