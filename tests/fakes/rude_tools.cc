#include "rude_tools.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <functional>
#include <map>

#include "adversary_trees.h"

namespace corral::fakes {
namespace {

std::string answer(const std::string& id, std::string_view text) {
  return R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{"content":[{"type":"text","text":")" +
         std::string(text) + R"("}]}})";
}

std::size_t kib(const std::string& number) { return std::stoul(number) << 10; }

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

[[noreturn]] void leave_in_the_middle(const Asked& asked) {
  const std::string whole = answer(asked.id, "never heard");
  write_all(STDOUT_FILENO, std::string_view(whole).substr(0, whole.size() / 2));
  leave("5");
}

void tell_folder(const Asked& asked) {
  char path[4096];
  asked.reply(getcwd(path, sizeof path) != nullptr ? path : "nowhere");
}

void tell_variable(const Asked& asked) {
  const char* value = getenv(asked.arg.c_str());
  asked.reply(value != nullptr ? value : "");
}

/// Only a server that was told of the subscription, in this start, speaks of it.
void touch(const Asked& asked) {
  const bool wanted = asked.state.subscribed.contains(asked.arg);
  if (wanted) {
    say(R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":")" + asked.arg +
        "\"}}");
  }
  asked.reply(wanted ? "told" : "nobody asked");
}

void ask_person(const Asked& asked) {
  asked.state.waiting = asked.id;
  say(R"({"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":")" + asked.arg +
      R"(","requestedSchema":{"type":"object","properties":{"age":{"type":"integer","minimum":1},)"
      R"("size":{"type":"string","enum":["small","large"],"default":"small"}},"required":["age"]}}})");
}

using Tool = std::function<void(const Asked&)>;
using Tools = std::map<std::string, Tool>;

/// Those that answer as they should, once.
Tools honest_tools() {
  return {
      {"echo", [](const Asked& asked) { asked.reply(asked.arg); }},
      {"pid", [](const Asked& asked) { asked.reply(std::to_string(getpid())); }},
      {"where", tell_folder},
      {"env", tell_variable},
      {"remember",
       [](const Asked& asked) {
         asked.state.remembered = asked.arg;
         asked.reply(asked.arg);
       }},
      {"recall", [](const Asked& asked) { asked.reply(asked.state.remembered); }},
      {"touch", touch},
      {"block",
       [](const Asked& asked) {
         sleep_ms(std::stol(asked.arg));
         asked.reply("unblocked");
       }},
      {"grow",
       [](const Asked& asked) { asked.reply(grow(asked.options.tree, asked.arg) ? "grown" : "failed"); }},
      {"large", [](const Asked& asked) { asked.reply(std::string(kib(asked.arg), 'l')); }},
      {"stderr", flood_stderr},
      {"fail",
       [](const Asked& asked) {
         asked.reply_with(R"({"content":[{"type":"text","text":")" + asked.arg + R"("}],"isError":true})");
       }},
      {"log",
       [](const Asked& asked) {
         say(R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","data":")" +
             asked.arg + "\"}}");
         asked.reply("logged");
       }},
      {"ask", ask_person},
      {"visit",
       [](const Asked& asked) {
         asked.state.waiting = asked.id;
         say(R"({"jsonrpc":"2.0","id":"v","method":"elicitation/create","params":{"mode":"url",)"
             R"("elicitationId":"1","message":"log in","url":")" +
             asked.arg + "\"}}");
       }},
      {"visit-first",
       [](const Asked& asked) {
         say(R"({"jsonrpc":"2.0","id":)" + asked.id +
             R"(,"error":{"code":-32042,"message":"log in first",)"
             R"("data":{"elicitations":[{"mode":"url","elicitationId":"1","message":"","url":")" +
             asked.arg + "\"}]}}}");
       }},
      {"knock",
       [](const Asked& asked) {
         asked.reply("who is there");
         say(R"({"jsonrpc":"2.0","id":"knock","method":"ping"})");
       }},
      {"picture",
       [](const Asked& asked) {
         asked.reply_with(R"({"content":[{"type":"image","mimeType":"image/png","data":"AAAAAAAA"}]})");
       }},
      {"progress", flood_progress},
      {"changed", flood_changes},
  };
}

Tools rude_tools() {
  return {
      {"silent", [](const Asked&) {}},
      {"deaf",
       [](const Asked& asked) {
         asked.reply("what?");
         idle_for_ever();
       }},
      {"freeze",
       [](const Asked& asked) {
         asked.reply("cold");
         asked.state.frozen = true;
       }},
      {"stop-self", [](const Asked&) { raise(SIGSTOP); }},
      {"banner", print_banners},
      {"twice",
       [](const Asked& asked) {
         asked.reply("once");
         asked.reply("twice");
       }},
      {"wrong-id",
       [](const Asked& asked) {
         say(answer(asked.id + "000000", "for a stranger"));
         say(answer("\"x" + asked.id + "\"", "for a text"));
         say(R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"for nobody"}})");
         asked.reply("for you");
       }},
      {"number", [](const Asked& asked) { asked.reply_with("42"); }},
      {"half", leave_in_the_middle},
      {"exit", [](const Asked& asked) { leave(asked.arg); }},
      {"mute",
       [](const Asked&) {
         close(STDOUT_FILENO);
         idle_for_ever();
       }},
  };
}

}  // namespace

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
}

void say(const std::string& line) { write_all(STDOUT_FILENO, line + '\n'); }

void Asked::reply(std::string_view text) const { say(answer(id, text)); }

void Asked::reply_with(std::string_view result) const {
  say(R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":)" + std::string(result) + "}");
}

void leave(const std::string& code) {
  write_all(STDERR_FILENO, "rude server: the roof is on fire\n");
  _exit(std::stoi(code));
}

bool call_tool(const std::string& name, const Asked& asked) {
  static const Tools tools = [] {
    Tools all = honest_tools();
    all.merge(rude_tools());
    return all;
  }();
  const auto tool = tools.find(name);
  if (tool == tools.end()) return false;
  tool->second(asked);
  return true;
}

}  // namespace corral::fakes
