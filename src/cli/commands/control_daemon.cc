#include "cli/commands/control_daemon.h"

#include <boost/json/parse.hpp>
#include <chrono>
#include <deque>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "base/utc_time.h"
#include "base/words.h"
#include "cli/commands/kept_log.h"
#include "cli/frame/daemon_command.h"
#include "cli/frame/option_values.h"
#include "cli/screen/answer_tables.h"
#include "cli/screen/json_view.h"
#include "cli/screen/overview.h"
#include "observe/control_tools.h"
#include "wire/json_writer.h"

namespace corral::cli {
namespace {

namespace json = boost::json;
using control::Hello;
using control::Verb;
using observe::tool_failure;
using observe::ToolResult;

/// Requests that end instances wait for calls in flight, for a time that the daemon's configuration sets.
constexpr std::chrono::seconds kEndPatience{120};
constexpr std::size_t kMostLogBytes = std::size_t{1} << 18;
constexpr const char* kOwnName = "corral";

/// An object with these lists of the daemon's answer, as they are written there.
std::string lists_of(const std::string& answer, std::string_view one, std::string_view other) {
  wire::JsonObject json;
  for (const std::string_view name : {one, other}) {
    const std::string_view list = wire::member_text(answer, name);
    json.raw(name, list.empty() ? "[]" : list);
  }
  return json.json();
}

std::string describe_client(const observe::ClientView& client) {
  std::string text = shown(client.name);
  if (!client.version.empty()) text += " " + client.version;
  if (client.pid.value_or(0) != 0) text += " (pid " + std::to_string(*client.pid) + ")";
  if (!client.root.empty()) text += " in " + client.root;
  return text;
}

std::string describe_server(const observe::ServerView& server,
                            const std::vector<observe::InstanceView>& instances) {
  std::string lines;
  for (const observe::InstanceView& one : instances) {
    if (one.server != server.name) continue;
    lines += "  " + shown_id(one.id) + " pid " + shown_pid(one.pid) + ", " + shown(one.state) +
             (one.stale.empty() ? "" : ", old code") + ", " + counted(one.sessions.size(), "session") +
             ", calls " + shown_number(one.calls) + ", up " + shown_age(one.uptime) + "; " +
             shown(one.reason) + "\n";
  }
  std::string state = lines.empty() ? " (not running)" : "";
  if (server.disabled) state = " (disabled in the configuration)";
  if (server.stopped) state = " (stopped; start_server allows it to start)";
  if (!server.broken.empty()) state = " (not started for now: " + server.broken + ")";
  return shown(server.name) + state + "\n" + lines;
}

/// One line for each instance that ended, and how.
ToolResult ended_result(const std::string& headline, const std::string& structured,
                        const json::value& value) {
  ToolResult result{false, headline, structured};
  for (const json::value& gone : list(value, "ended")) {
    result.text += "\n  " + text(gone, "server") + " " + text(gone, "instance").substr(0, 8) + ": " +
                   text(gone, "processes") + " processes, " +
                   (flag(gone, "proved") ? "gone" : "NOT proved gone") + " after " + text(gone, "ms") + " ms";
    if (!flag(gone, "proved")) result.failed = true;
  }
  for (const json::value& survivor : list(value, "survivors")) {
    result.failed = true;
    result.text += "\n  NOT ended: process " + text(survivor, "pid") + " (" + text(survivor, "command") +
                   "), " + text(survivor, "cause");
  }
  return result;
}

struct LastLines {
  std::deque<KeptLine> lines;  // oldest first
  std::size_t bytes = 0;       // of their texts
  bool more = false;           // older ones were left out
};

LastLines read_last_lines(const std::string& file, std::size_t most, std::int64_t since_ms) {
  LastLines last;
  KeptLog(file).read([&](std::string_view text) {
    std::optional<KeptLine> line = parse_kept_line(text);
    if (!line) line = KeptLine{0, "", printable(std::string(text))};
    if (line->time_ms < since_ms) return;
    last.bytes += line->text.size();
    last.lines.push_back(std::move(*line));
    while (last.lines.size() > most || (last.bytes > kMostLogBytes && last.lines.size() > 1)) {
      last.bytes -= last.lines.front().text.size();
      last.lines.pop_front();
      last.more = true;
    }
  });
  return last;
}

std::string logs_json(const std::string& server, const std::string& file, const LastLines& last) {
  const auto one_line = [](const KeptLine& line) {
    return wire::JsonObject()
        .text_or_null("time", line.time_ms == 0 ? "" : show_utc(line.time_ms))
        .text_or_null("instance", line.instance)
        .text("text", line.text)
        .json();
  };
  return wire::JsonObject()
      .text("server", server)
      .text("file", file)
      .raw("lines", wire::array_of(last.lines, one_line))
      .flag("more", last.more)
      .json();
}

/// The file of a server, or why there is none.
Result<std::string> log_file_of(const observe::Snapshot& status, const std::string& server) {
  std::vector<std::string> names;
  for (const observe::ServerView& entry : status.servers) {
    names.push_back(entry.name);
    if (entry.name != server) continue;
    if (entry.log_file.empty()) {
      return Error{"the daemon keeps no log of server " + server +
                   ": it is an older version, or has no state directory; `corral serve --replace` starts "
                   "this version"};
    }
    return {boost::system::in_place_value, entry.log_file};
  }
  const std::string nearest = nearest_word(server, names);
  return Error{"no server is called '" + server + "': " +
               (nearest.empty() ? "list_servers shows all servers" : "did you mean " + nearest + "?")};
}

}  // namespace

Result<JsonAnswer> ControlDaemon::ask(const Hello& hello) const {
  const bool tells = hello.verb == Verb::Status || hello.verb == Verb::Info;
  Result<JsonAnswer> parsed = read_answer(control::ask_daemon(
      runtime_dir_, hello, tells ? std::chrono::milliseconds(control::kTellPatience) : kEndPatience));
  if (parsed && !parsed->value.is_object()) {
    return Error{
        "the daemon did not send a JSON object: it is another version; `corral serve --replace` starts this "
        "version"};
  }
  return parsed;
}

Result<JsonAnswer> ControlDaemon::status() const { return ask(control::status_hello(control::Measure::Yes)); }

ToolResult ControlDaemon::get_server_info() const {
  const Result<JsonAnswer> answer = ask(control::verb_hello(Verb::Info));
  if (!answer) return tool_failure(answer.error().message);
  return {false, answer->text, answer->text};  // clients without structured content read the text
}

ToolResult ControlDaemon::list_servers() const {
  const Result<JsonAnswer> answer = status();
  if (!answer) return tool_failure(answer.error().message);
  std::string text;
  std::set<std::string> names = {kOwnName};
  const observe::Snapshot status = observe::read_status(answer->value);
  for (const observe::ServerView& server : status.servers) {
    names.insert(server.name);
    text += describe_server(server, status.instances);
  }
  // Commands that clients pass after `--` are not in the configuration.
  for (const observe::InstanceView& instance : status.instances) {
    if (!names.insert(instance.server).second) continue;
    text += describe_server({.name = instance.server}, status.instances);
  }
  if (text.empty()) text = "no server is configured: `corral add NAME -- COMMAND` adds one\n";
  return {false, text.substr(0, text.size() - 1), lists_of(answer->text, "servers", "instances")};
}

ToolResult ControlDaemon::list_sessions() const {
  const Result<JsonAnswer> answer = status();
  if (!answer) return tool_failure(answer.error().message);
  const observe::Snapshot status = observe::read_status(answer->value);
  std::string text = counted(status.sessions.size(), "session");
  for (const observe::SessionView& session : status.sessions) {
    text += "\n  " + shown_session(session) + " " + shown(session.server) + ", " + shown(session.state) +
            ", client " + describe_client(session.client) + ", instance " + shown_id(session.instance) +
            ", calls " + shown_number(session.calls) + ", open for " + shown_age(session.age);
  }
  for (const observe::SessionObjectView& object : status.objects) {
    text += "\n  session object " + shown(object.id) + " owns " + shown_list(object.servers);
  }
  return {false, text, lists_of(answer->text, "sessions", "objects")};
}

ToolResult ControlDaemon::end_session(const Arguments& arguments) const {
  Hello hello;
  hello.verb = Verb::SessionEnd;
  hello.session = observe::text_argument(arguments, "session");
  const Result<JsonAnswer> answer = ask(hello);
  if (!answer) return tool_failure(answer.error().message);
  return ended_result("session " + hello.session + " has ended: " +
                          counted(list(answer->value, "ended").size(), "instance") + " ended with it",
                      answer->text, answer->value);
}

ToolResult ControlDaemon::handle_server(Verb verb, const Arguments& arguments) const {
  const Hello hello = control::verb_hello(verb, observe::text_argument(arguments, "server"));
  if (hello.server == kOwnName && verb != Verb::Start) {
    return tool_failure(
        "server corral is this control server, which could not answer after that: name another server, or "
        "use `corral shutdown` to end the daemon");
  }
  const Result<JsonAnswer> answer = ask(hello);
  if (!answer) return tool_failure(answer.error().message);
  const std::size_t ended = list(answer->value, "ended").size();
  std::string headline = "server " + hello.server;
  switch (verb) {
    case Verb::Restart:
      headline += ended == 0 ? ": no instance was running; the next call starts one"
                             : ": " + counted(ended, "instance") + " ended; " +
                                   (has_sessions(answer->value) ? "its sessions get a new one"
                                                                : "the next call starts a new one");
      break;
    case Verb::Stop:
      headline +=
          " is stopped: " + counted(ended, "instance") + " ended; start_server allows it to start again";
      break;
    default: headline += flag(answer->value, "allowed") ? " may run again" : " was not stopped"; break;
  }
  return ended_result(headline, answer->text, answer->value);
}

ToolResult ControlDaemon::server_logs(const Arguments& arguments) const {
  const std::string server = observe::text_argument(arguments, "server");
  const std::string since = observe::text_argument(arguments, "since");
  const std::int64_t most = observe::number_argument(arguments, "lines", observe::kUsualLogLines);
  std::int64_t since_ms = 0;
  if (!since.empty()) {
    const Result<std::int64_t> time = parse_since(since, unix_time_ms());
    if (!time) return tool_failure("tool server_logs: argument \"since\": " + time.error().message);
    since_ms = *time;
  }
  const Result<JsonAnswer> answer = status();
  if (!answer) return tool_failure(answer.error().message);
  const Result<std::string> file = log_file_of(observe::read_status(answer->value), server);
  if (!file) return tool_failure(file.error().message);
  const LastLines last = read_last_lines(*file, static_cast<std::size_t>(most), since_ms);
  std::string shown = last.more ? "(older lines omitted)\n" : "";
  for (const KeptLine& line : last.lines) {
    shown += (line.time_ms == 0 ? "" : show_utc(line.time_ms) + " " + line.instance + " ") + line.text + "\n";
  }
  if (last.lines.empty()) shown = "server " + server + " wrote nothing to stderr in that time\n";
  return {false, shown.substr(0, shown.size() - 1), logs_json(server, *file, last)};
}

}  // namespace corral::cli
