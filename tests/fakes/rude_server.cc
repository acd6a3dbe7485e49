// An MCP server that does what no server should, when a test asks it to:
//
//   rude_server --tag=TAG [--life=S] [--grow=KIND:N]... [--alive-lock=FILE] [--ignore-eof] [--ignore-term]
//               [--start=exit:CODE|banner|silent|slow:MS] [--flap=FILE:PATTERN] [--list=FILE]
//               [--pings=FILE] [--cancelled=FILE] [--silent=FILE] [--page=N]
//
// --start is what it does when it is asked to initialize; slow:MS answers after that time.
// --flap makes one start unlike the next. FILE counts the starts (a byte each), and the letter of PATTERN at
// that place says what this one does, its last letter for all that follow:
//   c  exits with code 3 at once             h  exits with code 4 right after the handshake
//   f  never answers initialize              l  lives
// --list names a file that is read at the start: tools/list names its lines, each the name of a tool or all
// of its JSON, --page of them in one answer. Without it there are no tools.
// --pings names a file that gets a byte for every ping that is answered, --cancelled one for every call that
// is cancelled.
//
// It speaks revision 2025-06-18, one line a message, and answers ping and resources/subscribe. Every tool
// takes one text, "arg":
//   echo x        x                          pid          own pid
//   where         its working directory      env name     the value of that variable
//   remember x    x, and keeps it            recall       what this process was last told to remember
//   touch uri     "told" and an update, if this process has a subscription to it, else "nobody asked"
//   block ms      answers after that time    silent       no answer, but goes on
//   grow k:n      see adversary_trees.h      deaf         answers, then never reads again
//   freeze        answers, then reads on but never answers anything again, not even ping
//   stop-self     stops itself (SIGSTOP); the answer never comes
//   banner        lines that are not messages, then the answer
//   twice         two answers                wrong-id     one under a stranger's id, then the right one
//   large KiB     an answer of that size     half         half an answer without its end, then exits
//   stderr KiB    that much stderr, then the answer
//   progress KiB  that much news about the call, 4 KiB each, then the answer
//   changed n     n times "the list of tools changed", then the answer
//   number        an answer that is not an object
//   exit code     says why on stderr and exits
//   fail x        x, as an error of the tool's
//   log x         x as a log message, then the answer
//   ask x         asks the person x, in a form with a number and a choice, and answers with what they said
//   visit uri     asks the person to visit it, and answers with what they said; visit-first refuses until
//   then picture       content other than text knock         answers, then pings the client; the answer to
//   that gives --pings a byte, too mute          closes stdout and keeps running
// Every process of it ends by itself and carries the tag of its test.
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adversary_trees.h"
#include "rude_tools.h"
#include "words.h"

namespace corral::fakes {
namespace {

RudeOptions parse(int argc, char** argv) {
  RudeOptions options;
  options.tree.program = argv[0];
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    std::string value;
    if (take_value(argument, "--tag=", options.tree.tag)) continue;
    if (take_value(argument, "--alive-lock=", options.tree.alive_lock)) continue;
    if (take_value(argument, "--start=", options.start)) continue;
    if (take_value(argument, "--flap=", options.flap)) continue;
    if (take_value(argument, "--list=", options.list)) continue;
    if (take_value(argument, "--pings=", options.pings)) continue;
    if (take_value(argument, "--cancelled=", options.cancelled)) continue;
    if (take_value(argument, "--silent=", options.silent)) continue;
    if (take_value(argument, "--grow=", value)) {
      options.tree.grow.push_back(value);
    } else if (take_value(argument, "--life=", value)) {
      options.tree.life_seconds = std::min(300L, std::stol(value));
    } else if (take_value(argument, "--page=", value)) {
      options.page = std::stoul(value);
    } else if (take_value(argument, "--ready-fd=", value)) {
      options.tree.ready_fd = std::stoi(value);
    } else if (argument == "--helper") {
      options.tree.role = Role::Helper;
    } else if (argument == "--ignore-eof") {
      options.tree.ignore_eof = true;
    } else if (argument == "--ignore-term") {
      options.tree.ignore_term = true;
    } else {
      std::fprintf(stderr, "rude_server: unknown argument %s\n", argv[i]);
      std::exit(64);
    }
  }
  return options;
}

// ---- what differs from one start to the next

/// The number of bytes before this one. Two starts at once get two numbers.
std::size_t count_one(const std::string& file) {
  const int fd = open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0 || flock(fd, LOCK_EX) != 0) std::exit(66);
  struct stat status {};
  fstat(fd, &status);
  write_all(fd, ".");
  close(fd);
  return static_cast<std::size_t>(status.st_size);
}

void flap(const std::string& flap, RudeOptions& options, RudeState& state) {
  const std::size_t colon = flap.rfind(':');
  const std::string pattern = colon == std::string::npos ? "" : flap.substr(colon + 1);
  if (pattern.empty()) std::exit(64);
  const std::size_t number = count_one(flap.substr(0, colon));
  switch (pattern[std::min(number, pattern.size() - 1)]) {
    case 'c': leave("3");
    case 'h': state.leaves_after_handshake = true; break;
    case 'f': options.start = "silent"; break;
    case 'l': break;
    default: std::exit(64);
  }
}

std::vector<std::string> read_tools(const std::string& file) {
  std::vector<std::string> tools;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    const bool whole = line.starts_with('{');
    tools.push_back(whole ? line : R"({"name":")" + line + R"(","inputSchema":{"type":"object"}})");
  }
  return tools;
}

// ---- messages

void initialize(const Asked& asked) {
  const std::string& start = asked.options.start;
  if (start.starts_with("exit:")) leave(start.substr(5));
  if (start.starts_with("slow:")) sleep_ms(std::stol(start.substr(5)));
  if (start == "silent") return;
  if (start == "banner") say("Rude server is running on stdio");
  asked.reply_with(R"({"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true},)"
                   R"("resources":{"subscribe":true}},"serverInfo":{"name":"rude","version":"0"}})");
}

/// The cursor is the number of the first tool of the page.
void list_tools(const std::string& cursor, const Asked& asked) {
  const std::vector<std::string>& tools = asked.state.tools;
  const std::size_t begin = cursor.empty() ? 0 : std::stoul(cursor);
  const std::size_t end = std::min(begin + asked.options.page, tools.size());
  std::string page;
  for (std::size_t i = begin; i < end; ++i) page += (page.empty() ? "" : ",") + tools[i];
  const std::string next = end < tools.size() ? R"(,"nextCursor":")" + std::to_string(end) + '"' : "";
  asked.reply_with(R"({"tools":[)" + page + "]" + next + "}");
}

void take_request(const std::string& method, const std::string& line, const Asked& asked) {
  if (asked.state.frozen) return;
  if (method == "initialize") return initialize(asked);
  if (method == "ping") {
    if (!asked.options.pings.empty()) count_one(asked.options.pings);
    return asked.reply_with("{}");
  }
  if (method == "tools/list") return list_tools(field(line, "cursor"), asked);
  if (method == "resources/subscribe") {
    asked.state.subscribed.insert(field(line, "uri"));
    return asked.reply_with("{}");
  }
  if (method == "resources/unsubscribe") {
    asked.state.subscribed.erase(field(line, "uri"));
    return asked.reply_with("{}");
  }
  if (method == "tools/call" && field(line, "name") == "silent" && !asked.options.silent.empty()) {
    count_one(asked.options.silent);
  }
  if (method == "tools/call" && call_tool(field(line, "name"), asked)) return;
  say(R"({"jsonrpc":"2.0","id":)" + asked.id + R"(,"error":{"code":-32601,"message":"no such thing"}})");
}

/// What the person said goes to the caller: the action, and the two fields of the form.
void take_answer(const std::string& line, const RudeOptions& options, RudeState& state) {
  if (field(line, "id") == "knock" && !options.pings.empty()) count_one(options.pings);
  if (state.waiting.empty()) return;
  const Asked asked{options, state, std::exchange(state.waiting, ""), "", ""};
  asked.reply(field(line, "action") + " " + field(line, "age") + " " + field(line, "size"));
}

void take(const RudeOptions& options, RudeState& state, const std::string& line) {
  const std::string method = field(line, "method");
  const std::string id = field(line, "id");
  if (!id.empty() && method.empty()) return take_answer(line, options, state);
  if (!id.empty()) {
    return take_request(method, line, {options, state, id, field(line, "progressToken"), field(line, "arg")});
  }
  if (method == "notifications/initialized" && state.leaves_after_handshake) leave("4");
  if (method == "notifications/cancelled" && !options.cancelled.empty()) count_one(options.cancelled);
}

std::optional<std::string> next_line() {
  static std::string buffer;
  for (;;) {
    const std::size_t end = buffer.find('\n');
    if (end != std::string::npos) {
      std::string line = buffer.substr(0, end);
      buffer.erase(0, end + 1);
      return line;
    }
    static char bytes[65536];
    const ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    buffer.append(bytes, static_cast<std::size_t>(got));
  }
}

/// Free when the last process of the tree is gone that has not closed it; see the adversary.
void take_alive_lock(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT, 0666);
  if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0) std::exit(66);
}

int serve(RudeOptions options) {
  if (options.tree.ignore_term) {
    for (const int number : {SIGTERM, SIGHUP, SIGINT}) signal(number, SIG_IGN);
  }
  if (!options.tree.alive_lock.empty()) take_alive_lock(options.tree.alive_lock);
  for (const std::string& tree : options.tree.grow) {
    if (!grow(options.tree, tree)) return 65;
  }
  RudeState state;
  if (!options.list.empty()) state.tools = read_tools(options.list);
  if (!options.flap.empty()) flap(options.flap, options, state);
  while (const std::optional<std::string> line = next_line()) take(options, state, *line);
  if (options.tree.ignore_eof) idle_for_ever();
  return 0;
}

}  // namespace
}  // namespace corral::fakes

int main(int argc, char** argv) {
  using namespace corral::fakes;
  const RudeOptions options = parse(argc, argv);
  if (options.tree.role == Role::Helper) run_helper(options.tree);
  prctl(PR_SET_NAME, "rude-server");
  signal(SIGPIPE, SIG_IGN);
  end_by_itself(options.tree.deadline());
  return serve(options);
}
