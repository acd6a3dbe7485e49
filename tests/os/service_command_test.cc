// `corral service` beside a service manager that only writes down what it is asked: none runs here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "support/daemon_test.h"

namespace corral::os_tests {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ServiceCommand : public DaemonTest {
 protected:
  void SetUp() override {
    DaemonTest::SetUp();
    ASSERT_EQ(chmod(path("home").c_str(), 0777), 0);
    fs::create_directories(path("bin"));
    fs::permissions(path("bin"), fs::perms::all);
  }

  /// Nothing is active, everything else works; or nothing does.
  void put_manager(bool answers) const {
    std::ofstream(path("bin/systemctl"))
        << "#!/bin/sh\necho \"$@\" >> " << path("asked") << "\n"
        << (answers ? "case \"$2\" in is-active) echo inactive; exit 3;; esac\n" : "exit 1\n");
    chmod(path("bin/systemctl").c_str(), 0755);
    std::ofstream(path("asked")) << "";
    chmod(path("asked").c_str(), 0666);
  }

  Words service(const std::vector<std::string>& words) const {
    Launch launch = command("service");
    launch.argv = {programs().corral, "service"};
    launch.argv.insert(launch.argv.end(), words.begin(), words.end());
    launch.env.push_back("PATH=" + path("bin") + ":/usr/bin:/bin");
    return run(launch);
  }
  Words run(const Launch& launch) const {
    unlink(launch.stderr_path.c_str());
    Session session(launch);
    Words said;
    said.out = session.output_to_end();
    said.code = session.wait().value_or(-1);
    std::ifstream errors(launch.stderr_path);
    said.err = {std::istreambuf_iterator<char>(errors), {}};
    return said;
  }
  std::string unit(const std::string& name) const { return "home/systemd/user/" + name; }
};

TEST_F(ServiceCommand, WritesUnitsEnablesThemAndLeavesNoFile) {
  put_manager(true);

  const Words installed = service({"install", "--port", "8765"});

  EXPECT_EQ(installed.code, 0) << installed.err;
  EXPECT_THAT(file(unit("corral.service")), HasSubstr("ExecStart=" + programs().corral + " serve\n"));
  EXPECT_THAT(file(unit("corral.socket")), HasSubstr("ListenStream=127.0.0.1:8765\n"));
  EXPECT_THAT(file("asked"),
              AllOf(HasSubstr("--user daemon-reload\n"), HasSubstr("--user enable --now corral.socket\n")));
  EXPECT_EQ(service({"status"}).code, 0);

  const Words removed = service({"uninstall"});

  EXPECT_EQ(removed.code, 0) << removed.err;
  EXPECT_THAT(file("asked"), HasSubstr("--user disable --now corral.socket corral.service\n"));
  for (const auto& entry : fs::recursive_directory_iterator(path("home"))) {
    EXPECT_TRUE(entry.is_directory()) << entry.path();
  }
  EXPECT_EQ(service({"status"}).code, 1);
}

TEST_F(ServiceCommand, SaysWhatToRunWhereNoManagerAnswers) {
  put_manager(false);

  const Words installed = service({"install"});

  EXPECT_EQ(installed.code, 0) << installed.err;
  EXPECT_THAT(installed.out, HasSubstr("systemctl --user enable --now corral.socket"));
  EXPECT_THAT(file("asked"), Not(HasSubstr("enable")));
  EXPECT_EQ(service({"uninstall"}).code, 0);
}

TEST_F(ServiceCommand, TouchesNoFileOfSomebodyElse) {
  put_manager(true);
  fs::create_directories(path("home/systemd/user"));
  std::ofstream(path(unit("corral.socket"))) << "[Socket]\n";
  fs::permissions(path("home/systemd/user"), fs::perms::all);

  for (const char* verb : {"install", "uninstall"}) {
    const Words said = service({verb});
    EXPECT_EQ(said.code, 1) << verb;
    EXPECT_THAT(said.err, HasSubstr("not written by corral")) << verb;
  }

  EXPECT_EQ(file(unit("corral.socket")), "[Socket]\n");
  EXPECT_EQ(file(unit("corral.service")), "") << "all of it, or nothing";
}

TEST_F(ServiceCommand, WritesNothingInADryRun) {
  put_manager(true);

  const Words shown = service({"install", "--dry-run", "--port", "8765"});

  EXPECT_EQ(shown.code, 0);
  EXPECT_THAT(shown.out, AllOf(HasSubstr("[Service]\n"), HasSubstr("ListenStream=127.0.0.1:8765\n")));
  EXPECT_FALSE(fs::exists(path("home/systemd")));
  EXPECT_EQ(file("asked"), "");
}

TEST_F(ServiceCommand, WritesUnitsThatSystemdAccepts) {
  constexpr const char* kVerifier = "/usr/bin/systemd-analyze";
  if (access(kVerifier, X_OK) != 0) GTEST_SKIP() << "there is no systemd-analyze here";
  put_manager(false);
  ASSERT_EQ(service({"install", "--port", "8765"}).code, 0);

  Launch launch = command("verify");
  launch.argv = {kVerifier, "verify", "--user", path(unit("corral.service")), path(unit("corral.socket"))};
  launch.env.push_back("XDG_RUNTIME_DIR=" + path("home"));
  const Words verified = run(launch);

  EXPECT_EQ(verified.code, 0) << verified.err;
  EXPECT_THAT(verified.err, Not(HasSubstr("corral."))) << "not a word about our units";
}

TEST_F(ServiceCommand, WritesAnAgentThatIsAPropertyList) {
  Launch launch = command("service");
  launch.argv = {"/bin/sh", "-c",
                 "'" + programs().corral +
                     "' service install --manager launchd --dry-run --port 8765 | python3 -c '"
                     "import plistlib, sys; agent = plistlib.loads(sys.stdin.buffer.read()); "
                     "print(agent[\"Label\"], agent[\"ProgramArguments\"][1:], agent[\"RunAtLoad\"])'"};

  const Words linted = run(launch);

  EXPECT_EQ(linted.out, "dev.corral.daemon ['serve', '--port', '8765'] True\n") << linted.err;
}

}  // namespace
}  // namespace corral::os_tests
