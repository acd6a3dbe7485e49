// What `corral service` shows and writes, beside a service manager that only writes down what it is asked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "cli/commands/user_service.h"
#include "cli/file_commands.h"
#include "cli/frame/command.h"
#include "control/control_socket.h"
#include "serve/service_units.h"

namespace corral::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

class ServiceOutput : public FileCommands {
 protected:
  ServiceOutput() { fs::create_directories(folder_ + "/bin"); }

  /// `cases` are those of a shell, by the words behind `systemctl --user`.
  void put_manager(const std::string& cases) {
    write("bin/systemctl", "#!/bin/sh\nshift\necho \"$@\" >> " + folder_ + "/asked\ncase \"$*\" in\n" +
                               cases + "\nesac\nexit 0\n");
    chmod((folder_ + "/bin/systemctl").c_str(), 0755);
  }
  void put_mark(const std::string& name) { write("systemd/user/" + name, ours_); }

  const SetVariable path_{"PATH", folder_ + "/bin"};
  const std::string ours_ = serve::socket_unit({});
  static constexpr const char* kInactive = "is-active*) echo inactive; exit 3;;";
};

TEST_F(ServiceOutput, InstallSaysWhatToRunWhereNoManagerIs) {
  const Seen seen = run({"service", "install"});

  EXPECT_EQ(seen.code, 0) << seen.errors;
  EXPECT_EQ(seen.out, R"(Written: ~/systemd/user/corral.service
Written: ~/systemd/user/corral.socket
Your service manager does not answer, so nothing was started. When it does, run:
  systemctl --user daemon-reload && systemctl --user enable --now corral.socket
)");
  EXPECT_THAT(run({"service", "install"}).out,
              StartsWith("The units in ~/systemd/user are up to date.\nYour "));
  EXPECT_THAT(run({"service", "install", "--port", "8765"}).out,
              StartsWith("Written: ~/systemd/user/corral.s"));
  EXPECT_THAT(read("systemd/user/corral.socket"), HasSubstr("8765"));
  EXPECT_EQ(fs::status(folder_ + "/systemd/user/corral.service").permissions() & fs::perms::all,
            fs::perms(0644));
}

TEST_F(ServiceOutput, InstallEnablesTheSocket) {
  if (control::connect_to_daemon("")) GTEST_SKIP() << "a daemon of yours runs, which is left as it is";
  put_manager(kInactive);

  const Seen seen = run({"service", "install"});

  EXPECT_EQ(seen.code, 0) << seen.errors;
  EXPECT_THAT(seen.out, testing::EndsWith("corral.socket is enabled: the first client starts the daemon.\n"));
  EXPECT_EQ(read("asked"),
            "show --property=Version --value\ndaemon-reload\nis-active --quiet corral.service\n"
            "is-active --quiet corral.service\nenable --now corral.socket\n");
}

TEST_F(ServiceOutput, InstallLeavesADaemonThatRunsAsItIs) {
  put_manager("");
  constexpr const char* kNext =
      "systemctl --user stop corral.service && systemctl --user restart corral.socket";

  EXPECT_THAT(run({"service", "install"}).out, HasSubstr(kNext));
  EXPECT_THAT(run({"service", "install"}).out, testing::Not(HasSubstr(kNext))) << "nothing has changed";
}

TEST_F(ServiceOutput, InstallNamesWhatTheManagerSaid) {
  put_manager("daemon-reload) echo no bus; echo; exit 1;;");
  const Seen unread = run({"service", "install"});
  EXPECT_EQ(unread.code, 1);
  EXPECT_EQ(unread.errors, "corral service: the service manager did not load the units: no bus\n");
  put_manager("enable*) echo no room >&2; exit 1;;");
  const Seen disabled = run({"service", "install"});
  EXPECT_EQ(disabled.code, 1);
  EXPECT_EQ(disabled.errors, "corral service: cannot enable the socket: no room\n");
}

TEST_F(ServiceOutput, InstallNamesWhatCannotBe) {
  EXPECT_EQ(
      run({"service", "install", "--port", "0"}).errors,
      "corral service: the service manager cannot choose a free port: give a number, such as --port 8765\n");
  EXPECT_EQ(run({"service", "install", "--manager", "launchd"}).errors,
            "corral service: launchd is only on macOS: use --dry-run to show the file\n");
  EXPECT_FALSE(fs::exists(folder_ + "/systemd"));
  write("systemd/user/corral.socket", "mine");
  const Seen seen = run({"service", "install"});
  EXPECT_EQ(seen.code, 1);
  EXPECT_EQ(seen.errors,
            "corral service: '~/systemd/user/corral.socket' exists and was not written by corral: move it "
            "away, then try again\n");
  EXPECT_FALSE(fs::exists(folder_ + "/systemd/user/corral.service"));
}

TEST_F(ServiceOutput, ADryRunShowsTheUnitsAndWritesNone) {
  const Seen seen = run({"service", "install", "--dry-run", "--config", "x.json"});

  EXPECT_EQ(seen.code, 0);
  EXPECT_THAT(seen.out, StartsWith("# ~/systemd/user/corral.service\n"));
  EXPECT_THAT(seen.out, HasSubstr("\n# ~/systemd/user/corral.socket\n"));
  EXPECT_THAT(seen.out, HasSubstr("/x.json"));
  EXPECT_THAT(seen.out, HasSubstr("PATH=~/bin"));
  EXPECT_THAT(seen.out, testing::EndsWith("# then: systemctl --user daemon-reload && systemctl --user enable "
                                          "--now corral.socket\n"));
  const Seen agent = run({"service", "install", "--dry-run", "--manager", "launchd"});
  EXPECT_EQ(agent.code, 0);
  EXPECT_THAT(agent.out, HasSubstr("<plist"));
  EXPECT_THAT(agent.errors, StartsWith("For ~/Library/LaunchAgents/dev.corral.daemon.plist"));
  EXPECT_FALSE(fs::exists(folder_ + "/systemd"));
  const SetVariable odd("PATH", folder_ + "/bin:\nx");
  EXPECT_THAT(run({"service", "install", "--dry-run"}).out, testing::Not(HasSubstr("PATH=~")));
}

TEST_F(ServiceOutput, UninstallRemovesWhatInstallWrote) {
  EXPECT_EQ(run({"service", "uninstall"}).out, "Nothing is installed in ~/systemd/user.\n");
  put_manager("disable*) echo not loaded >&2; exit 1;;");
  put_mark("corral.service");
  put_mark("corral.socket");
  fs::create_directories(folder_ + "/systemd/user/sockets.target.wants");
  fs::create_symlink("../corral.socket", folder_ + "/systemd/user/sockets.target.wants/corral.socket");
  fs::create_directories(folder_ + "/systemd/user/default.target.wants");
  fs::create_symlink("../corral.service", folder_ + "/systemd/user/default.target.wants/corral.service");
  fs::create_symlink("../other.service", folder_ + "/systemd/user/default.target.wants/other.service");

  EXPECT_EQ(run({"service", "uninstall", "--dry-run"}).out,
            "systemctl --user disable --now corral.socket corral.service\nrm ~/systemd/user/corral.service\n"
            "rm ~/systemd/user/corral.socket\n");
  const Seen seen = run({"service", "uninstall"});
  EXPECT_EQ(seen.code, 0);
  EXPECT_EQ(seen.out, "Removed: ~/systemd/user/corral.service\nRemoved: ~/systemd/user/corral.socket\n");
  EXPECT_EQ(seen.errors, "corral service: not loaded\n");
  EXPECT_EQ(read("asked"),
            "show --property=Version --value\ndisable --now corral.socket corral.service\ndaemon-reload\n");
  EXPECT_FALSE(fs::exists(folder_ + "/systemd/user/sockets.target.wants"));
  EXPECT_FALSE(fs::is_symlink(folder_ + "/systemd/user/default.target.wants/corral.service"));
  EXPECT_TRUE(fs::is_symlink(folder_ + "/systemd/user/default.target.wants/other.service"));
}

TEST_F(ServiceOutput, UninstallLeavesAFileOfSomebodyElse) {
  put_mark("corral.service");
  write("systemd/user/corral.socket", "mine");

  const Seen seen = run({"service", "uninstall"});

  EXPECT_EQ(seen.code, 1);
  EXPECT_EQ(seen.errors,
            "corral service: '~/systemd/user/corral.socket' was not written by corral, so nothing was "
            "changed; remove it yourself\n");
  EXPECT_EQ(read("systemd/user/corral.service"), ours_);
}

TEST_F(ServiceOutput, StatusNamesEachUnit) {
  write("systemd/user/corral.socket", "mine");
  const Seen none = run({"service", "status"});
  EXPECT_EQ(none.code, 1);
  EXPECT_EQ(none.out, R"(~/systemd/user/corral.service: missing
~/systemd/user/corral.socket: exists, but was not written by corral
Your service manager does not answer.
)");
  put_mark("corral.service");
  put_mark("corral.socket");
  EXPECT_EQ(run({"service", "status"}).code, 0);
  put_manager("is-enabled*socket) echo enabled;;\nis-enabled*) echo static;;\n" + std::string(kInactive));
  const Seen both = run({"service", "status"});
  EXPECT_EQ(both.code, 0);
  EXPECT_EQ(both.out, R"(~/systemd/user/corral.service: written by corral
~/systemd/user/corral.socket: written by corral
corral.service: static, inactive
corral.socket: enabled, inactive
)");
  fs::remove(folder_ + "/systemd/user/corral.service");
  EXPECT_EQ(run({"service", "status"}).code, 1);
}

TEST_F(ServiceOutput, AManagerThatCannotBeRunIsSaidToBeNone) {
  EXPECT_EQ(call_manager({"show"}).said, "cannot run systemctl");
  EXPECT_FALSE(call_manager({"show"}).worked());
  put_manager("die) kill -9 $$;;\nlong) echo; echo 'two words'; echo; echo;;");
  EXPECT_EQ(call_manager({"long"}).said, "\ntwo words");
  EXPECT_TRUE(call_manager({"long"}).worked());
  EXPECT_FALSE(call_manager({"die"}).worked());
}

// ---- the files themselves

class UnitFiles : public ServiceOutput {};

TEST_F(UnitFiles, AreOursOnlyWithTheMarkInAPlainFile) {
  put_mark("ours");
  write("systemd/user/foreign", "[Unit]\n");
  fs::create_symlink("ours", folder_ + "/systemd/user/link");
  fs::create_symlink("nowhere", folder_ + "/systemd/user/broken");
  const auto state = [this](const std::string& name) { return state_of(folder_ + "/systemd/user/" + name); };

  EXPECT_EQ(state("ours"), UnitState::Ours);
  EXPECT_EQ(state("foreign"), UnitState::Foreign);
  EXPECT_EQ(state("link"), UnitState::Foreign);
  EXPECT_EQ(state("broken"), UnitState::Foreign);
  EXPECT_EQ(state("missing"), UnitState::Missing);
  EXPECT_EQ(unit_folder(), folder_ + "/systemd/user");
}

TEST_F(UnitFiles, AreWrittenIfTheyDifferAndLeaveNothingBeside) {
  const std::string one = folder_ + "/a/b/one";
  const std::string two = folder_ + "/a/two";
  EXPECT_THAT(write_units({{one, ours_}, {two, ours_}}).value(), testing::ElementsAre(one, two));
  EXPECT_THAT(write_units({{one, ours_}, {two, ours_ + "\n"}}).value(), testing::ElementsAre(two));
  EXPECT_EQ(read("a/two"), ours_ + "\n");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ + "/a"), fs::directory_iterator()), 2);
  EXPECT_EQ(remove_unit(one).value(), true);
  EXPECT_EQ(remove_unit(one).value(), false);
  write("a/b/one", "mine");
  EXPECT_EQ(plain(remove_unit(one).error().message),
            "'~/a/b/one' exists and was not written by corral: move it away, then try again");
}

TEST_F(UnitFiles, SayWhyTheyCannotBeWritten) {
  write("file", "x");
  EXPECT_THAT(plain(write_units({{folder_ + "/file/unit", ours_}}).error().message),
              StartsWith("'~/file/unit' cannot be written: "));
  fs::create_directories(folder_ + "/folder/unit");
  EXPECT_THAT(plain(write_units({{folder_ + "/folder/unit", ours_}}).error().message),
              HasSubstr("was not written by corral"));
  const std::string beside = folder_ + "/unit.new-" + std::to_string(getpid());
  write("unit.new-" + std::to_string(getpid()), "x");
  EXPECT_THAT(plain(write_units({{folder_ + "/unit", ours_}}).error().message),
              testing::EndsWith("cannot be written: File exists"));
  EXPECT_TRUE(fs::exists(beside));
}

}  // namespace
}  // namespace corral::cli
