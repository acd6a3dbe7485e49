// The same with a real engine: an image that holds one static program, no network, storage of its own.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>

#include "support/eventually.h"
#include "support/os_test.h"

namespace corral::os_tests {
namespace {

// crun refuses a machine that has controllers in both cgroup versions. Without the v2 mount, in a mount
// namespace that only this test sees, it takes such a machine for a v1 one.
void hide_second_cgroup_version() {
  if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) _exit(96);
  umount2("/sys/fs/cgroup/unified", MNT_DETACH);
}

class Podman : public OsTest {
 protected:
  void SetUp() override {
    if (!running_as_root()) GTEST_SKIP() << "needs root: the storage of an unused uid cannot be set up";
    if (std::system("command -v podman >/dev/null") != 0) GTEST_SKIP() << "podman is not installed";
    const std::string import = "cp " + programs().container_server + ' ' + path("server") + " && tar -C " +
                               path("") + " -cf " + path("image.tar") + " server && " +
                               shell_words(podman()) + " import " + path("image.tar") +
                               " localhost/corral-test:1";
    ASSERT_EQ(run_shell(import), 0) << file("podman");
    imported_ = true;
    const std::string once = shell_words(run_command()) + " localhost/corral-test:1 /server --end-at-once";
    if (run_shell(once) != 0) GTEST_SKIP() << "podman cannot run a container here: " << file("podman");
  }

  void TearDown() override {
    if (imported_) run_shell(shell_words(podman()) + " rm -f --all");
  }

  std::vector<std::string> podman() const {
    return {"podman", "--root",           path("storage"), "--runroot", path("run"), "--storage-driver",
            "vfs",    "--cgroup-manager", "cgroupfs",      "--tmpdir",  path("tmp")};
  }

  std::vector<std::string> run_command() const {
    std::vector<std::string> words = podman();
    words.insert(words.end(), {"run", "-i", "--rm", "--network=none", "--ulimit", "nofile=1000:1000",
                               "--ulimit", "nproc=1000:1000"});
    return words;
  }

  static std::string shell_words(const std::vector<std::string>& words) {
    std::string line;
    for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
    return line;
  }

  int run_shell(const std::string& line) const {
    Launch launch;
    launch.argv = {"/bin/sh", "-c", line};
    launch.env = {"CORRAL_TEST_TAG=" + tag()};
    launch.in = Stdio::Null;
    launch.stderr_path = path("podman");
    launch.before_exec = hide_second_cgroup_version;
    Session session(launch);
    output_ = session.output_to_end();
    return session.wait().value_or(-1);
  }

  mutable std::string output_;
  bool imported_ = false;
};

TEST_F(Podman, ContainerIsRemovedWhenTheClientIsKilled) {
  std::vector<std::string> command = run_command();
  command.insert(command.end(), {"localhost/corral-test:1", "/server"});
  Launch launch = through_client({.user = User::Root, .command = command});
  launch.before_exec = hide_second_cgroup_version;
  Session client(launch);
  ASSERT_EQ(client.ask("echo"), "from the container") << errors();
  const std::string list = shell_words(podman()) + " ps --all --quiet --filter label=corral.instance";
  ASSERT_EQ(run_shell(list), 0) << file("podman");
  ASSERT_NE(output_, "");

  ASSERT_TRUE(kill_now(client.pid()));

  EXPECT_TRUE(all_gone()) << testing::PrintToString(processes());
  ASSERT_EQ(run_shell(list), 0) << file("podman");
  EXPECT_EQ(output_, "");
  expect_clean(report());
}

}  // namespace
}  // namespace corral::os_tests
