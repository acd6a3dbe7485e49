// An MCP server that does what no server should, when a test asks it to:
//
//   rude_server --tag=TAG [--life=S] [--grow=KIND:N]... [--alive-lock=FILE] [--start=exit:CODE|banner|silent]
//               [--ignore-eof] [--ignore-term]
//
// It speaks revision 2025-06-18, one line a message. Every tool takes one text, "arg":
//   echo x        x                          pid          own pid
//   block ms      answers after that time    silent       no answer, but goes on
//   grow k:n      see adversary_trees.h      deaf         answers, then never reads again
//   banner        lines that are no message, then the answer
//   twice         two answers                wrong-id     one under a stranger's id, then the right one
//   large KiB     an answer of that size     half         half an answer without its end, then exits
//   stderr KiB    that much stderr, then the answer
//   progress KiB  that much news about the call, 4 KiB each, then the answer
//   changed n     n times "the list of tools changed", then the answer
//   exit code     says why on stderr and exits
//   mute          closes stdout and lives on
// Every process of it ends by itself and carries the tag of its test.
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "adversary_options.h"
#include "adversary_trees.h"

namespace corral::fakes {
namespace {

struct RudeOptions {
  AdversaryOptions tree;
  std::string start;
};

bool take_value(std::string_view argument, std::string_view name, std::string& value) {
  if (!argument.starts_with(name)) return false;
  value = argument.substr(name.size());
  return true;
}

RudeOptions parse(int argc, char** argv) {
  RudeOptions options;
  options.tree.program = argv[0];
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    std::string value;
    if (take_value(argument, "--tag=", options.tree.tag)) continue;
    if (take_value(argument, "--alive-lock=", options.tree.alive_lock)) continue;
    if (take_value(argument, "--start=", options.start)) continue;
    if (take_value(argument, "--grow=", value)) {
      options.tree.grow.push_back(value);
    } else if (take_value(argument, "--life=", value)) {
      options.tree.life_seconds = std::min(60L, std::stol(value));
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

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
}

void say(const std::string& line) { write_all(STDOUT_FILENO, line + '\n'); }

/// The value after "name": in a line that our own tests or corral wrote; texts carry no escapes.
std::string field(std::string_view line, std::string_view name) {
  const std::string key = '"' + std::string(name) + "\":";
  const std::size_t at = line.find(key);
  if (at == std::string_view::npos) return {};
  line.remove_prefix(at + key.size());
  const bool quoted = line.starts_with('"');
  if (quoted) line.remove_prefix(1);
  return std::string(line.substr(0, line.find_first_of(quoted ? "\"" : ",}")));
}

std::string answer(const std::string& id, std::string_view text) {
  return R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{"content":[{"type":"text","text":")" +
         std::string(text) + R"("}]}})";
}

std::size_t kib(const std::string& number) { return std::stoul(number) << 10; }

/// One call of a tool.
struct Asked {
  const RudeOptions& options;
  std::string id;
  std::string token;
  std::string arg;

  void reply(std::string_view text) const { say(answer(id, text)); }
};

void flood_stderr(const Asked& asked) {
  const std::string line = std::string(1023, 'e') + '\n';
  for (std::size_t left = kib(asked.arg); left > 0; left -= line.size()) write_all(STDERR_FILENO, line);
  asked.reply("flooded");
}

void flood_progress(const Asked& asked) {
  const std::string padding(4096 - 150, 'p');
  std::size_t number = 0;
  for (std::size_t sent = 0; sent < kib(asked.arg); sent += 4096) {
    say(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" + asked.token +
        R"(,"progress":)" + std::to_string(++number) + R"(,"message":")" + padding + R"("}})");
  }
  asked.reply(std::to_string(number));
}

void flood_changes(const Asked& asked) {
  for (long left = std::stol(asked.arg); left > 0; --left) {
    say(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
  }
  asked.reply("changed");
}

void print_banners(const Asked& asked) {
  say("*** rude server, version 0 ***");
  say("{\"jsonrpc\":\"2.0\",\"id\":" + asked.id + ",\"result\":{\"half\":");
  say("[1,2,");
  say("42");
  asked.reply("after the banners");
}

[[noreturn]] void leave(const std::string& code) {
  write_all(STDERR_FILENO, "rude server: the roof is on fire\n");
  _exit(std::stoi(code));
}

[[noreturn]] void leave_in_the_middle(const Asked& asked) {
  const std::string whole = answer(asked.id, "never heard");
  write_all(STDOUT_FILENO, std::string_view(whole).substr(0, whole.size() / 2));
  leave("5");
}

using Tool = std::function<void(const Asked&)>;

const std::map<std::string, Tool>& tools() {
  static const std::map<std::string, Tool> all = {
      {"echo", [](const Asked& asked) { asked.reply(asked.arg); }},
      {"pid", [](const Asked& asked) { asked.reply(std::to_string(getpid())); }},
      {"block",
       [](const Asked& asked) {
         sleep_ms(std::stol(asked.arg));
         asked.reply("unblocked");
       }},
      {"silent", [](const Asked&) {}},
      {"grow",
       [](const Asked& asked) { asked.reply(grow(asked.options.tree, asked.arg) ? "grown" : "failed"); }},
      {"deaf",
       [](const Asked& asked) {
         asked.reply("what?");
         idle_for_ever();
       }},
      {"banner", print_banners},
      {"twice",
       [](const Asked& asked) {
         asked.reply("once");
         asked.reply("twice");
       }},
      {"wrong-id",
       [](const Asked& asked) {
         say(answer(asked.id + "000000", "for a stranger"));
         say(answer("\"" + asked.id + "\"", "for a text"));
         say(R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"for nobody"}})");
         asked.reply("for you");
       }},
      {"large", [](const Asked& asked) { asked.reply(std::string(kib(asked.arg), 'l')); }},
      {"half", leave_in_the_middle},
      {"stderr", flood_stderr},
      {"progress", flood_progress},
      {"changed", flood_changes},
      {"exit", [](const Asked& asked) { leave(asked.arg); }},
      {"mute",
       [](const Asked&) {
         close(STDOUT_FILENO);
         idle_for_ever();
       }},
  };
  return all;
}

void initialize(const RudeOptions& options, const std::string& id) {
  if (options.start.starts_with("exit:")) leave(options.start.substr(5));
  if (options.start == "silent") return;
  if (options.start == "banner") say("Rude server is running on stdio");
  say(R"({"jsonrpc":"2.0","id":)" + id +
      R"(,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},)" +
      R"("serverInfo":{"name":"rude","version":"0"}}})");
}

void take(const RudeOptions& options, const std::string& line) {
  const std::string method = field(line, "method");
  const std::string id = field(line, "id");
  if (id.empty()) return;
  if (method == "initialize") return initialize(options, id);
  if (method == "tools/list") return say(R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{"tools":[]}})");
  const auto tool = tools().find(field(line, "name"));
  if (method == "tools/call" && tool != tools().end()) {
    return tool->second({options, id, field(line, "progressToken"), field(line, "arg")});
  }
  say(R"({"jsonrpc":"2.0","id":)" + id + R"(,"error":{"code":-32601,"message":"no such thing"}})");
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

int serve(const RudeOptions& options) {
  if (options.tree.ignore_term) {
    for (const int number : {SIGTERM, SIGHUP, SIGINT}) signal(number, SIG_IGN);
  }
  if (!options.tree.alive_lock.empty()) take_alive_lock(options.tree.alive_lock);
  for (const std::string& tree : options.tree.grow) {
    if (!grow(options.tree, tree)) return 65;
  }
  while (const std::optional<std::string> line = next_line()) take(options, *line);
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
