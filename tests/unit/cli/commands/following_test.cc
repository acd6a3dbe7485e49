// `corral events` and `corral logs`, which go on, and `corral who`, which looks at the machine.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "cli/file_commands.h"
#include "cli/frame/command.h"

namespace corral::cli {
namespace {

using control::Verb;
using Kind = ToldDaemon::Kind;
using testing::HasSubstr;

class Following : public FileCommands {
 protected:
  Following() { sigprocmask(SIG_BLOCK, nullptr, &mask_); }
  ~Following() override { sigprocmask(SIG_SETMASK, &mask_, nullptr); }

  static control::Reply events(int first, int last) {
    std::string list;
    for (int i = first; i <= last; ++i) {
      list += (list.empty() ? "" : ",") + (R"({"seq":)" + std::to_string(i)) + R"(,"kind":"spawn"})";
    }
    return ToldDaemon::reply(Kind::Result,
                             R"({"next":)" + std::to_string(last) + R"(,"events":[)" + list + "]}");
  }
  static control::Reply refusal() { return ToldDaemon::reply(Kind::Refused, "enough"); }
  /// The numbers of the events that are shown.
  static std::string numbers(const std::string& out) {
    std::string text;
    for (std::size_t at = 0; (at = out.find("\"seq\":", at)) != std::string::npos;) {
      at += 6;
      text += (text.empty() ? "" : " ") + out.substr(at, out.find(',', at) - at);
    }
    return text;
  }

  ToldDaemon daemon_;
  sigset_t mask_{};
};

TEST_F(Following, EventsShowsTheLastTenAndThenEachAsItComes) {
  daemon_.answers(Verb::Events, {events(1, 12), events(13, 12), events(13, 14), events(15, 15), refusal()});

  const Seen seen = ask(daemon_, {"events", "-f", "--json"});

  EXPECT_EQ(seen.code, kOwnFailure);
  EXPECT_EQ(seen.errors, "corral events: enough\n");
  EXPECT_EQ(numbers(seen.out), "3 4 5 6 7 8 9 10 11 12 13 14 15");
  const std::vector<control::Hello> asked = daemon_.asked();
  ASSERT_EQ(asked.size(), 5U);
  EXPECT_EQ(asked[1].wait.count(), 0);
  EXPECT_EQ(asked[2].wait.count(), 20'000);
  EXPECT_EQ(asked[3].after, 14U);
}

TEST_F(Following, EventsShowsAllSinceATimeOrAsManyAsAreWanted) {
  const auto shown = [this](std::vector<std::string> words) {
    daemon_.answers(Verb::Events, {events(1, 12), events(13, 12), events(13, 13), refusal()});
    words.insert(words.begin(), {"events", "-f", "--json"});
    return numbers(ask(daemon_, words).out);
  };
  EXPECT_EQ(shown({"-n", "2"}), "11 12 13");
  EXPECT_EQ(shown({"-n", "0"}), "13");
  EXPECT_EQ(shown({"--since", "1970-01-01T00:00:00.001Z"}), "") << "they have no time";
}

TEST_F(Following, EventsWaitsForTheNextDaemonAndSaysSo) {
  const control::Reply hung_up = ToldDaemon::reply(Kind::Exit, "");
  daemon_.answers(Verb::Events, {events(1, 0), hung_up, events(1, 1), events(2, 2), refusal()});

  const Seen seen = ask(daemon_, {"events", "-f", "--json"});

  EXPECT_EQ(numbers(seen.out), "1 2");
  EXPECT_EQ(seen.errors, R"(corral events: the daemon has exited; waiting for a new one
corral events: a daemon is running again
corral events: enough
)");
}

TEST_F(Following, EventsAreReadFromTheStartIfTheDaemonLostThem) {
  daemon_.answers(Verb::Events, {events(5, 9), events(1, 2), events(3, 2)});

  EXPECT_EQ(numbers(ask(daemon_, {"events", "--json"}).out), "5 6 7 8 9 1 2");
  EXPECT_EQ(daemon_.asked().back().after, 2U);
  daemon_.answers(Verb::Events,
                  {ToldDaemon::reply(Kind::Result, R"({"next":-1,"events":[{"seq":7,"k":1}]})")});
  EXPECT_EQ(numbers(ask(daemon_, {"events", "--json"}).out), "7") << "which does not say where to go on";
}

TEST_F(Following, EventsAreLinesForPeople) {
  daemon_.answers(
      Verb::Events,
      {ToldDaemon::reply(Kind::Result, R"({"next":1,"events":[{"seq":1,"kind":"crash","server":"a",
                      "time_ms":1000,"text":"a died\u001b[2J"},{"seq":2,"kind":"spawn","server":"b",
                      "time_ms":2500,"text":"b runs"}]})"),
       events(3, 2)});

  EXPECT_EQ(ask(daemon_, {"events"}).out,
            "1970-01-01T00:00:01.000Z  crash    a died�[2J\n1970-01-01T00:00:02.500Z  spawn    b runs\n");
}

TEST_F(Following, TheWhoCommandDescribesAProcessThatIsNotAServer) {
  const std::string own = std::to_string(getpid());

  const Seen seen = run({"who", own});

  EXPECT_EQ(seen.code, 0) << seen.errors;
  EXPECT_THAT(seen.out, testing::StartsWith(own + ": "));
  EXPECT_THAT(seen.out, HasSubstr("\n  what    not a known MCP server, "));
  EXPECT_THAT(seen.out, HasSubstr(" old, uid " + std::to_string(getuid()) + "\n"));
  EXPECT_THAT(seen.out, HasSubstr("\n  below   "));
  EXPECT_THAT(seen.out, HasSubstr("\n  in      "));
  EXPECT_THAT(seen.out, HasSubstr("\n  stdin   "));
  EXPECT_THAT(seen.out, HasSubstr("\n  stdout  "));
  const Seen json = run({"who", "--json", own});
  EXPECT_EQ(json.code, kOwnFailure);
  EXPECT_EQ(json.errors, "corral who: process " + own + " is not a known MCP server\n");
}

TEST_F(Following, TheWhoCommandNamesWhatStdinAndStdoutAre) {
  const int in_before = dup(STDIN_FILENO);
  const int out_before = dup(STDOUT_FILENO);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  dup2(ends[0], STDIN_FILENO);
  write("file", "");
  const int file = open((folder_ + "/file").c_str(), O_WRONLY | O_CLOEXEC);
  dup2(file, STDOUT_FILENO);
  const std::string own = std::to_string(getpid());
  const Seen pipe_and_file = run({"who", own});
  const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(null, STDIN_FILENO);
  const Seen from_null = run({"who", own});
  dup2(in_before, STDIN_FILENO);
  dup2(out_before, STDOUT_FILENO);
  for (const int fd : {in_before, out_before, ends[0], ends[1], file, null}) close(fd);

  EXPECT_THAT(pipe_and_file.out, HasSubstr("\n  stdin   a pipe\n"));
  EXPECT_THAT(pipe_and_file.out, HasSubstr("\n  stdout  a file\n"));
  EXPECT_THAT(from_null.out, HasSubstr("\n  stdin   /dev/null\n"));
}

}  // namespace
}  // namespace corral::cli
