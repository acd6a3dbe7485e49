// An MCP server that offers what the official conformance suite asks for, in one of the two eras:
//
//   fixture_server --legacy|--modern|--flip-era=FILE [--tag=TAG] [--life=S] [--count-file=FILE]
//                  [--slow-start=MS [--slow-if=FILE]] [--silent-probe|--exit-on-probe]
//                  [--tools-file=FILE] [--random-tools] [--read-only] [--trace-file=FILE] [--ignore=TEXT]
//
// --legacy opens with initialize, any revision from 2024-11-05 to 2025-11-25, and really asks its client. A
// question names the key that a modern server would give it, in _meta["dev.corral/inputKey"].
// --modern is the revision 2026-07-28 and nothing else. --flip-era is modern while FILE exists, else legacy.
// --count-file gets a line with the pid of every start.
// --slow-start reads nothing before that time; with --slow-if only while that file exists.
// --silent-probe and --exit-on-probe are what a legacy server does about server/discover before initialize.
// --tools-file names a file with names of more tools, read at every list; --random-tools adds another one to
// each list; --read-only annotates all of them so. --trace-file adds the tool test_trace, which writes its
// text there: what happened, whatever was answered. --ignore is only there to be seen in /proc.
//
// The tools beyond the suite's: test_echo, test_pid, test_long_call (progress every 50 ms, can be cancelled),
// test_cancelled_calls, test_touch_resource, test_structured_content. It ends by itself.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "fixture_engine.h"
#include "lifetime.h"
#include "words.h"

namespace corral::fakes {
namespace {

struct Start {
  FixtureOptions fixture;
  std::string tag;  // how the test finds us in /proc
  std::string count_file;
  std::string slow_if;
  long slow_start_ms = 0;
  long life_seconds = 120;
};

bool exists(const std::string& file) { return access(file.c_str(), F_OK) == 0; }

bool take_flag(std::string_view argument, FixtureOptions& options) {
  if (argument == "--legacy") {
    options.world.era = Era::Legacy;
  } else if (argument == "--modern") {
    options.world.era = Era::Modern;
  } else if (argument == "--silent-probe") {
    options.probe = Probe::Silence;
  } else if (argument == "--exit-on-probe") {
    options.probe = Probe::Exit;
  } else if (argument == "--random-tools") {
    options.world.random_tools = true;
  } else if (argument == "--read-only") {
    options.world.read_only = true;
  } else {
    return false;
  }
  return true;
}

Start parse(int argc, char** argv) {
  Start start;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    std::string value;
    if (take_flag(argument, start.fixture)) continue;
    if (take_value(argument, "--tag=", start.tag)) continue;
    if (take_value(argument, "--count-file=", start.count_file)) continue;
    if (take_value(argument, "--slow-if=", start.slow_if)) continue;
    if (take_value(argument, "--tools-file=", start.fixture.world.tools_file)) continue;
    if (take_value(argument, "--trace-file=", start.fixture.world.trace_file)) continue;
    if (take_value(argument, "--ignore=", value)) continue;
    if (take_value(argument, "--flip-era=", value)) {
      start.fixture.world.era = exists(value) ? Era::Modern : Era::Legacy;
    } else if (take_value(argument, "--slow-start=", value)) {
      start.slow_start_ms = std::stol(value);
    } else if (take_value(argument, "--life=", value)) {
      start.life_seconds = std::min(600L, std::stol(value));
    } else {
      std::fprintf(stderr, "fixture_server: unknown argument %s\n", argv[i]);
      std::exit(64);
    }
  }
  return start;
}

/// One write of a line, so that starts at the same time do not mix.
void count_start(const std::string& file) {
  const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  const std::string line = std::to_string(getpid()) + '\n';
  if (fd < 0 || write(fd, line.data(), line.size()) < 0) std::exit(66);
  close(fd);
}

}  // namespace
}  // namespace corral::fakes

int main(int argc, char** argv) {
  using namespace corral::fakes;
  const Start start = parse(argc, argv);
  prctl(PR_SET_NAME, "fixture-server");
  signal(SIGPIPE, SIG_IGN);
  end_by_itself(Deadline::in_seconds(start.life_seconds));
  if (!start.count_file.empty()) count_start(start.count_file);
  if (start.slow_if.empty() || exists(start.slow_if)) sleep_ms(start.slow_start_ms);
  FixtureEngine(start.fixture).serve();
  return 0;
}
