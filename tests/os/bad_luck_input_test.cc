// Bad input: each has its exit code, one message on stderr that names the thing, the cause and the next step,
// and nothing is started.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "support/os_test.h"

namespace corral::os_tests {
namespace {

struct BadInput {
  const char* name;
  std::vector<std::string>
      arguments;  // after `corral run`; "@x" stands for the path of x in the test's directory
  int code;
  std::vector<std::string> words;  // each must be in the message
};

void PrintTo(const BadInput& input, std::ostream* out) { *out << input.name; }

class RunInput : public OsTest {
 protected:
  void SetUp() override {
    write("plain-file", "no program\n", 0644);
    write("script", "#!/nowhere/to/be/found\n", 0755);
    write("shell-script", "echo ran\n", 0755);
    mkdir(path("folder").c_str(), 0755);
  }

  void write(const std::string& name, const std::string& text, mode_t mode) const {
    std::ofstream(path(name)) << text;
    chmod(path(name).c_str(), mode);
  }

  Launch run(const std::vector<std::string>& arguments) const {
    Launch launch = corral({});
    launch.argv = {programs().corral, "run"};
    for (const std::string& argument : arguments) {
      launch.argv.push_back(argument.starts_with('@') ? path(argument.substr(1)) : argument);
    }
    return launch;
  }
};

class BadLuckInput : public RunInput, public testing::WithParamInterface<BadInput> {};

TEST_P(BadLuckInput, IsRefusedWithAMessageThatHelps) {
  Session session(run(GetParam().arguments));

  EXPECT_EQ(session.wait(), GetParam().code) << errors();
  EXPECT_EQ(session.output_to_end(), "");
  EXPECT_TRUE(errors().starts_with("corral run: ")) << errors();
  EXPECT_EQ(errors().find("corral run: ", 1), std::string::npos) << "more than one message: " << errors();
  for (const std::string& word : GetParam().words) {
    EXPECT_NE(errors().find(word), std::string::npos) << '"' << word << "\" is not in: " << errors();
  }
}

const BadInput kBadInput[] = {
    {"UnknownOption", {"--frobnicate", "--", "true"}, 125, {"--frobnicate", "--help"}},
    {"UnknownShortOption", {"-Z", "--", "true"}, 125, {"-Z", "--help"}},
    {"NoCommand", {}, 125, {"command", "corral run -- "}},
    {"NothingAfterTheDashes", {"-v", "--"}, 125, {"command"}},
    {"EmptyCommand", {"--", ""}, 125, {"command", "corral run -- "}},
    {"NotFound",
     {"--", "no-such-program-anywhere"},
     127,
     {"no-such-program-anywhere", "PATH", "/bin", "install"}},
    {"PathNotFound", {"--", "/nowhere/at/all"}, 127, {"/nowhere/at/all", "exist"}},
    {"NotExecutable", {"--", "@plain-file"}, 126, {"plain-file", "not executable", "chmod +x"}},
    {"Directory", {"--", "@folder"}, 126, {"folder", "directory"}},
    {"InterpreterMissing", {"--", "@script"}, 127, {"script", "/nowhere/to/be/found", "install"}},
    {"CwdMissing", {"--cwd", "@nowhere", "--", "true"}, 125, {"nowhere", "does not exist", "--cwd"}},
    {"CwdIsAFile", {"--cwd", "@plain-file", "--", "true"}, 125, {"plain-file", "directory"}},
    {"DurationWithoutUnit", {"--stdin-grace", "5", "--", "true"}, 125, {"--stdin-grace", "'5'", "500ms"}},
    {"DurationWithWrongUnit",
     {"--term-grace", "5 parsecs", "--", "true"},
     125,
     {"--term-grace", "5 parsecs", "2s"}},
    {"NegativeDuration", {"--kill-grace", "-1s", "--", "true"}, 125, {"--kill-grace", "-1s"}},
    {"HugeDuration", {"--term-grace", "99999999999999999999s", "--", "true"}, 125, {"--term-grace"}},
    {"EmptyDuration", {"--term-grace", "", "--", "true"}, 125, {"--term-grace"}},
    {"SizeInWords", {"--memory", "lots", "--", "true"}, 125, {"--memory", "lots", "512M"}},
    {"SizeWithWrongUnit", {"--memory", "12Q", "--", "true"}, 125, {"--memory", "12Q"}},
    {"ZeroSize", {"--memory", "0", "--", "true"}, 125, {"--memory"}},
    {"HugeSize", {"--memory", "99999999999999G", "--", "true"}, 125, {"--memory"}},
    {"NoProcesses", {"--pids", "0", "--", "true"}, 125, {"--pids"}},
    {"ProcessesInWords", {"--pids", "many", "--", "true"}, 125, {"--pids", "many"}},
    {"CpuInWords", {"--cpu", "half", "--", "true"}, 125, {"--cpu", "half"}},
    {"NoCpu", {"--cpu", "0", "--", "true"}, 125, {"--cpu"}},
    {"EnvWithoutValue", {"--env", "JUST_A_NAME", "--", "true"}, 125, {"--env", "NAME=VALUE"}},
    {"EnvWithoutName", {"--env", "=value", "--", "true"}, 125, {"--env", "NAME=VALUE"}},
    {"UnknownLevel", {"--containment", "maximal", "--", "true"}, 125, {"--containment", "maximal", "strict"}},
    {"OptionWithoutValue", {"--cwd"}, 125, {"--cwd"}},
    {"ReportThatCannotBeWritten",
     {"--report", "@nowhere/report", "--", "true"},
     125,
     {"nowhere/report", "--report"}},
};

INSTANTIATE_TEST_SUITE_P(Each, BadLuckInput, testing::ValuesIn(kBadInput),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_F(RunInput, NotFoundNamesThePathThatWasSearched) {
  Launch launch = run({"--", "no-such-program-anywhere"});
  launch.env.push_back("PATH=/one/place:/another/place");
  Session session(launch);

  EXPECT_EQ(session.wait(), 127);
  EXPECT_NE(errors().find("/one/place:/another/place"), std::string::npos) << errors();
}

TEST_F(RunInput, AScriptWithoutAFirstLineIsRunByTheShell) {
  Session session(run({"--", "@shell-script"}));

  EXPECT_EQ(session.output_to_end(), "ran\n") << errors();
  EXPECT_EQ(session.wait(), 0);
}

TEST_F(RunInput, ACommandOfTheServersOwnOptionsIsNotOurs) {
  Session session(run({"echo", "--containment", "maximal", "-v"}));

  EXPECT_EQ(session.output_to_end(), "--containment maximal -v\n") << errors();
  EXPECT_EQ(session.wait(), 0);
}

TEST_F(RunInput, AFailedStartIsReportedToo) {
  Session session(run({"--report", path("report.json"), "--", "@script"}));

  EXPECT_EQ(session.wait(), 127);
  EXPECT_EQ(report().reason, "not-started");
  EXPECT_FALSE(report().leaked);
}

// The child reports why it could not become the server, and exits. Its exit may be noticed first, because the
// end of the input wakes the keeper at that moment.
TEST_F(RunInput, AFailedStartIsNeverSilentWhenTheInputEndsMeanwhile) {
  for (int start = 0; start < 60; ++start) {
    unlink(path("stderr").c_str());
    Session session(run({"--containment", "strict", "--", "@script"}));
    usleep(static_cast<useconds_t>(start) * 200);
    session.close_stdin();
    EXPECT_EQ(session.wait(), 127);
    ASSERT_NE(errors().find("/nowhere/to/be/found"), std::string::npos) << errors();
  }
}

}  // namespace
}  // namespace corral::os_tests
