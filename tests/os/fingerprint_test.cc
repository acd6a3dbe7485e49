// Which files a server runs from, learned from real trees.
#include "knowledge/fingerprint.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/files.h"
#include "support/eventually.h"
#include "support/os_test.h"

namespace corral::os_tests {
namespace {

using knowledge::Fingerprint;
using knowledge::learn_fingerprint;
using knowledge::what_changed;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kPython = "import sys\nfor line in sys.stdin: pass\n";
constexpr const char* kNode = "#!/usr/bin/env node\nprocess.stdin.resume();\n";
constexpr const char* kShell = "while read -r line; do :; done\n";

bool is_installed(const std::string& program) {
  std::string path = getenv("PATH") == nullptr ? "" : getenv("PATH");
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    if (access((path.substr(begin, end - begin) + "/" + program).c_str(), X_OK) == 0) return true;
    begin = end + 1;
  }
  return false;
}

class LearnFingerprint : public OsTest {
 protected:
  using Words = std::vector<std::string>;

  std::string write(const std::string& name, const std::string& text) const {
    const std::string whole = path(name);
    std::filesystem::create_directories(std::filesystem::path(whole).parent_path());
    std::ofstream(whole) << text;
    std::filesystem::permissions(whole, std::filesystem::perms(0755));
    return whole;
  }

  /// Its working directory is that of this test, or one below it.
  Launch starting(const Words& argv, const std::string& folder = ".") const {
    Launch launch;
    launch.argv = argv;
    launch.env = {"CORRAL_TEST_TAG=" + tag(), "npm_config_cache=" + path("npm"),
                  "npm_config_update_notifier=false"};
    launch.stderr_path = path("stderr");
    launch.before_exec = [place = path(folder)] {
      if (chdir(place.c_str()) != 0) _exit(1);
    };
    return launch;
  }

  static std::uint64_t input_of(const Session& session) {
    struct stat status {};
    EXPECT_EQ(fstat(session.stdin_fd(), &status), 0);
    return status.st_ino;
  }

  static Words paths(const Fingerprint& fingerprint) {
    Words list;
    for (const knowledge::FilePrint& file : fingerprint.files) list.push_back(file.path);
    return list;
  }

  /// Waits until the tree has come to run this file, beyond `env`, which becomes another program; what is
  /// learned then.
  static Fingerprint when_it_runs(const Session& session, const std::string& file) {
    Fingerprint found;
    eventually([&] {
      found = learn_fingerprint(session.pid(), input_of(session));
      const Words list = paths(found);
      return std::find(list.begin(), list.end(), file) != list.end() && !list.front().ends_with("/env");
    });
    return found;
  }
};

TEST_F(LearnFingerprint, OfAPythonScript) {
  const std::string script = write("server.py", kPython);
  const Session session(starting({"python3", "-u", "server.py", "--quiet"}));

  const Fingerprint found = when_it_runs(session, script);

  EXPECT_THAT(paths(found), ElementsAre(HasSubstr("python"), script));
  EXPECT_EQ(what_changed(found), std::nullopt);
}

TEST_F(LearnFingerprint, OfAShellScript) {
  const std::string script = write("server.sh", kShell);
  const Session session(starting({"/bin/sh", script}));

  EXPECT_THAT(paths(when_it_runs(session, script)), ElementsAre(HasSubstr("sh"), script));
}

TEST_F(LearnFingerprint, OfTheChildOfAShellThatWaitsForIt) {
  const std::string script = write("server.py", kPython);
  const Session session(starting({"/bin/sh", "-c", "python3 '" + script + "'; exit 3"}));

  EXPECT_THAT(paths(when_it_runs(session, script)), ElementsAre(HasSubstr("python"), script));
}

TEST_F(LearnFingerprint, OfTheOneThatHasThePipeNotOfAHelper) {
  const std::string script = write("server.py", kPython);
  const std::string helper = write("helper.py", "import time\ntime.sleep(60)\n");
  // The helper belongs to a deeper level, but reads nothing from us.
  const Session session(starting({"/bin/sh", "-c",
                                  "sh -c 'sh -c \"python3 " + helper + "; :\"; :' </dev/null & python3 '" +
                                      script + "'; kill %1; exit 0"}));

  EXPECT_THAT(paths(when_it_runs(session, script)), ElementsAre(HasSubstr("python"), script));
  end_tagged(tag());
}

TEST_F(LearnFingerprint, OfANodeScriptWithItsPackage) {
  if (!is_installed("node")) GTEST_SKIP() << "node is not installed";
  const std::string script = write("project/dist/server.js", kNode);
  const std::string manifest = write("project/package.json", "{}");
  const std::string lock = write("project/package-lock.json", "{}");
  const Session session(starting({"/bin/sh", "-c", "node dist/server.js; exit 3"}, "project"));

  EXPECT_THAT(paths(when_it_runs(session, script)), ElementsAre(EndsWith("/node"), script, manifest, lock));
}

TEST_F(LearnFingerprint, OfWhatNpxStarts) {
  if (!is_installed("npx")) GTEST_SKIP() << "npx is not installed";
  write("project/node_modules/mine/index.js", kNode);
  const std::string manifest = write("project/node_modules/mine/package.json",
                                     R"({"name":"mine","version":"1.0.0","bin":"index.js"})");
  const std::string lock = write("project/package-lock.json", "{}");
  const std::string bin = path("project/node_modules/.bin/mine");
  std::filesystem::create_directories(path("project/node_modules/.bin"));
  std::filesystem::create_symlink("../mine/index.js", bin);
  const Session session(starting({"npx", "--no-install", "mine"}, "project"));

  EXPECT_THAT(paths(when_it_runs(session, bin)), ElementsAre(EndsWith("/node"), bin, manifest, lock))
      << errors();
}

TEST_F(LearnFingerprint, OfACompiledProgramThatIsReplacedLater) {
  const std::string program = path("server");
  std::filesystem::copy_file("/bin/cat", program);
  const Session session(starting({program}));

  const Fingerprint found = when_it_runs(session, program);
  EXPECT_THAT(paths(found), ElementsAre(program));
  std::filesystem::copy_file("/bin/cat", path("new"));
  std::filesystem::rename(path("new"), program);

  EXPECT_EQ(what_changed(found), program + " has changed");
  // What the old one was is not there any more; the new one is not what is running.
  EXPECT_THAT(paths(learn_fingerprint(session.pid(), input_of(session))), IsEmpty());
  std::ofstream(program + " (deleted)") << "what the kernel calls it is another file";
  EXPECT_THAT(paths(learn_fingerprint(session.pid(), input_of(session))), IsEmpty());
  std::filesystem::remove(program);
  EXPECT_EQ(what_changed(found), program + " is gone");
}

TEST_F(LearnFingerprint, IsNothingWithoutAProcessOrThePipe) {
  const std::string script = write("server.sh", kShell);
  pid_t ended = 0;
  {
    const Session session(starting({"/bin/sh", script}));
    when_it_runs(session, script);
    EXPECT_THAT(learn_fingerprint(session.pid(), input_of(session) + 1'000'000'000).files, IsEmpty());
    EXPECT_THAT(learn_fingerprint(session.pid(), 0).files, IsEmpty());
    ended = session.pid();
  }

  EXPECT_THAT(learn_fingerprint(ended, 1).files, IsEmpty());
}

class LearnFingerprintUnderCorral : public LearnFingerprint, public testing::WithParamInterface<Setting> {};

TEST_P(LearnFingerprintUnderCorral, FindsTheServerBelowTheKeeper) {
  if (const auto reason = why_not_here(GetParam())) GTEST_SKIP() << *reason;
  const std::string script = write("server.sh", kShell);
  const std::string shell = std::filesystem::canonical("/bin/sh").string();
  const Session session(
      corral({.level = GetParam().level, .user = GetParam().user, .command = {"/bin/sh", script}}));

  // Before that, corral itself has the pipe, and its own command line names the script as well.
  EXPECT_TRUE(eventually([&] {
    const Words list = paths(learn_fingerprint(session.pid(), input_of(session)));
    return testing::Matches(ElementsAre(shell, script))(list);
  })) << errors();
}

INSTANTIATE_TEST_SUITE_P(Settings, LearnFingerprintUnderCorral, testing::ValuesIn(every_setting()),
                         [](const auto& setting) { return name(setting.param); });

}  // namespace
}  // namespace corral::os_tests
