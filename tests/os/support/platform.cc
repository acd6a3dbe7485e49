#include "support/platform.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace corral::os_tests {
namespace {

constexpr uid_t kOrdinaryUid = 54321;

// Runs body in a child as that user; its return value comes back as the exit status.
template <typename Body>
int in_child_as(std::optional<uid_t> uid, Body body) {
  const pid_t pid = fork();
  if (pid < 0) return -1;
  if (pid == 0) {
    if (uid) become(*uid);
    prctl(PR_SET_DUMPABLE, 1);  // exec would do that: without it, our own /proc files belong to root
    _exit(body());
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool write_file(const char* path, const std::string& text) {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool written = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(fd);
  return written;
}

// The steps that strict needs, one after the other; the number of the first that fails.
int try_pid_namespace() {
  const uid_t uid = geteuid();
  const gid_t gid = getegid();
  const int user_namespace = uid == 0 ? 0 : CLONE_NEWUSER;
  if (unshare(user_namespace | CLONE_NEWPID | CLONE_NEWNS) != 0) return 1;
  if (uid != 0) {
    const auto map = [](unsigned id) { return std::to_string(id) + ' ' + std::to_string(id) + " 1"; };
    write_file("/proc/self/setgroups", "deny");
    if (!write_file("/proc/self/uid_map", map(uid)) || !write_file("/proc/self/gid_map", map(gid))) return 2;
  }
  return in_child_as(std::nullopt, [] {
    if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 3;
    return mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0 ? 0 : 4;
  });
}

bool reachable(uid_t uid, const std::string& path) {
  return in_child_as(uid, [&] { return access(path.c_str(), X_OK) == 0 ? 0 : 1; }) == 0;
}

// A checkout below a private home directory is closed to the ordinary user of these tests: give it a copy,
// laid out as an installation is. Removed when the test program ends.
class Copies {
 public:
  Copies() {
    char path[] = "/tmp/corral-os-programs-XXXXXX";
    root_ = mkdtemp(path);
    std::filesystem::permissions(root_, std::filesystem::perms(0755));
  }
  ~Copies() { std::filesystem::remove_all(root_); }
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;

  std::string add(const std::string& from, const std::string& to) {
    const std::filesystem::path target = root_ / to;
    std::filesystem::create_directories(target.parent_path());
    std::filesystem::copy_file(from, target);
    return target;
  }

 private:
  std::filesystem::path root_;
};

Programs find_programs() {
  Programs built = {CORRAL_BIN,      CORRAL_KEEPER_BIN,    ADVERSARY_BIN,          RELAY_CLIENT_BIN,
                    FAKE_DOCKER_BIN, CONTAINER_SERVER_BIN, INTERACTIVE_CLIENT_BIN, LEAKY_CLIENT_BIN};
  const auto uid = uid_of(User::Ordinary);
  if (!uid || (reachable(*uid, built.corral) && reachable(*uid, built.adversary))) return built;
  static Copies copies;
  return {copies.add(built.corral, "bin/corral"),
          copies.add(built.keeper, "libexec/corral/corral-keeper"),
          copies.add(built.adversary, "fakes/adversary"),
          copies.add(built.relay_client, "fakes/relay_client"),
          copies.add(built.fake_docker, "fakes/fake_docker"),
          copies.add(built.container_server, "fakes/container_server"),
          copies.add(built.interactive_client, "fakes/interactive_client"),
          copies.add(built.leaky_client, "fakes/leaky_client")};
}

}  // namespace

const char* name(User user) { return user == User::Root ? "Root" : "OrdinaryUser"; }

const char* name(Level level) {
  switch (level) {
    case Level::Auto: return "Auto";
    case Level::Basic: return "Basic";
    case Level::Strict: return "Strict";
  }
  return "?";
}

bool running_as_root() { return geteuid() == 0; }

std::optional<uid_t> uid_of(User user) {
  if (user == User::Root || !running_as_root()) return std::nullopt;
  return kOrdinaryUid;
}

uid_t fresh_uid() {
  uid_t uid = 55000 + static_cast<uid_t>(getpid() % 9000);
  while (getpwuid(uid) != nullptr) ++uid;
  return uid;
}

void become(uid_t uid) {
  const gid_t gid = uid;
  if (setgroups(0, nullptr) != 0 || setresgid(gid, gid, gid) != 0 || setresuid(uid, uid, uid) != 0) _exit(99);
  // This user cannot enter a checkout below a private home by its path, and what it starts could not run
  // here, either.
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  if ((error || access(here.c_str(), X_OK) != 0) && chdir("/") != 0) _exit(98);
}

std::optional<std::string> why_no_pid_namespace(User user) {
  switch (in_child_as(uid_of(user), try_pid_namespace)) {
    case 0: return std::nullopt;
    case 1: return "the kernel refuses this user a new user and PID namespace";
    case 2: return "the kernel refuses to map this user's id in a user namespace";
    case 3: return "the mount tree cannot be made private";
    default: return "a fresh /proc cannot be mounted in a new PID namespace";
  }
}

const Programs& programs() {
  static const Programs found = find_programs();
  return found;
}

}  // namespace corral::os_tests
