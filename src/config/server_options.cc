#include "config/server_options.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/secrets.h"
#include "base/text.h"
#include "base/units.h"
#include "config/option_readers.h"
#include "config/show.h"

namespace corral::config {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;

constexpr std::uint32_t kMostWarm = 64;  // each waiting instance is a whole tree of processes

// ---- any option: its member of Server, or of the limits in it

template <auto kMember>
decltype(auto) member_of(auto& server) {
  if constexpr (requires { server.*kMember; }) {
    return (server.*kMember);
  } else {
    return (server.limits.*kMember);
  }
}

template <auto kMember>
void store(auto value, Draft& draft) {
  if (value) member_of<kMember>(draft.server) = std::move(*value);
}

template <auto kMember>
void read_flag(Reading& reading, const Field& field, Draft& draft) {
  store<kMember>(reading.flag(field), draft);
}

template <auto kMember>
void read_text(Reading& reading, const Field& field, Draft& draft) {
  store<kMember>(reading.text(field), draft);
}

template <auto kMember>
void read_duration(Reading& reading, const Field& field, Draft& draft) {
  store<kMember>(reading.duration(field), draft);
}

template <auto kMember>
void read_size(Reading& reading, const Field& field, Draft& draft) {
  store<kMember>(reading.size(field), draft);
}

json::value json_of(milliseconds time) { return time.count(); }
json::value json_of(const std::string& text) {
  return text.empty() ? json::value() : json::value(printable(text));
}
json::value json_of(const std::vector<std::string>& list) {
  json::array array;
  for (const std::string& text : list) array.emplace_back(printable(text));
  return array;
}
template <class Value>
json::value json_of(const Value& value) {
  if constexpr (requires { name_of(value); }) {
    return name_of(value);
  } else {
    return value;
  }
}
template <class Value>
json::value json_of(const std::optional<Value>& value) {
  return value ? json_of(*value) : json::value();
}

template <auto kMember>
json::value show(const Server& server) {
  return json_of(member_of<kMember>(server));
}

template <auto kMember>
bool same(const Server& one, const Server& other) {
  return member_of<kMember>(one) == member_of<kMember>(other);
}

/// In any order.
template <auto kMember>
bool same_set(const Server& one, const Server& other) {
  const auto sorted = [](auto list) {
    std::sort(list.begin(), list.end());
    return list;
  };
  return sorted(one.*kMember) == sorted(other.*kMember);
}

template <auto kMember>
void copy(const Server& from, Server& to) {
  member_of<kMember>(to) = member_of<kMember>(from);
}

template <auto kMember>
constexpr ServerOption::Value value(std::string_view json_key) {
  return {json_key, show<kMember>, same<kMember>, copy<kMember>};
}

// ---- some options

json::value show_env(const Server& server) {
  json::object environment;
  for (const auto& [name, text] : server.env) environment[printable(name)] = show_variable(name, text);
  return environment;
}

bool same_tools(const Server& one, const Server& other) {
  if (one.tools.has_value() != other.tools.has_value()) return false;
  return !one.tools ||
         std::is_permutation(one.tools->begin(), one.tools->end(), other.tools->begin(), other.tools->end());
}

json::value show_cores(const Server& server) {
  return server.limits.cpu_thousandths ? json::value(*server.limits.cpu_thousandths / 1000.0) : json::value();
}

std::string env_lines(const Server& server) {
  std::string lines;
  for (const auto& [name, text] : server.env) {
    lines += (lines.empty() ? "" : "\n") + printable(name) + "=" + show_variable(name, text);
  }
  return lines;
}

std::string cwd_text(const Server& server) {
  if (!server.cwd.empty()) return printable(server.cwd);
  return server.share == Share::Root ? "the project root" : "the client's";
}

std::string share_text(const Server& server) {
  switch (server.share) {
    case Share::Shared: return "shared by all sessions that start it in the same way";
    case Share::Session: return "session: one instance for each session";
    case Share::Root: return "root: one instance for each project";
    case Share::Auto: break;
  }
  return server.stateless ? "auto, and marked stateless: shared" : "auto: shared if that is known to be safe";
}

std::string listed(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + printable(name);
  return list;
}

std::string tools_text(const Server& server) {
  if (!server.tools) return "";
  return server.tools->empty() ? "none" : listed(*server.tools);
}

std::string size_text(const char* what, std::optional<std::uint64_t> bytes) {
  return bytes ? what + show_size(*bytes) : "";
}

std::string processes_text(const Server& server) {
  return server.limits.processes ? "processes " + std::to_string(*server.limits.processes) : "";
}

std::string cores_text(const Server& server) {
  if (!server.limits.cpu_thousandths) return "";
  return "processor " + std::to_string(*server.limits.cpu_thousandths / 10) + "%";
}

std::string era_text(const Server& server) {
  return server.modern ? std::string("treated as a ") + era_name(server.modern) + " server" : "";
}

std::string change_text(const Server& server) {
  switch (server.on_change) {
    case OnChange::Roll: return "new sessions get the new code when its files change";
    case OnChange::Warn: return "a change to its files is only reported";
    case OnChange::Ignore: break;
  }
  return "its files are not watched";
}

std::string probe_text(const Server& server) {
  if (server.probe.count() == 0) return "not probed";
  return "probed after " + show_duration(server.probe) + " of silence";
}

std::string park_text(const Server& server) {
  if (!server.park) return "parked if it keeps no state and its session is silent";
  return *server.park ? "parked if its session is silent" : "never parked";
}

std::string unattended_text(const Server& server) {
  if (!server.unattended) return "";
  if (server.unattended->count() == 0) return "kept while nobody is attached to its client";
  return "parked when nobody has been attached to its client for " + show_duration(*server.unattended);
}

/// Clients have this key, too. An invalid value next to "command" is therefore only a warning, so that their
/// files stay usable.
void read_description(Reading& reading, const Field& field, Draft& draft) {
  constexpr std::size_t kLongest = 200;
  const json::string* const text = field.value.if_string();
  if (text != nullptr && text->size() <= kLongest) {
    draft.server.description = std::string(*text);
    return;
  }
  const std::string what =
      field.naming() + (text == nullptr ? " must be a string" : " is longer than 200 bytes");
  const char* const hint = "Write one sentence that says what the server is for";
  if (draft.place == OptionPlace::Corral) return reading.fail(field.place.value, what, hint);
  reading.warn(field.place.value, what + " and is not shown", hint);
}

// ---- the table

constexpr OptionPlace kEntry = OptionPlace::Entry;

const ServerOption kOptions[] = {
    {.key = "command",
     .place = kEntry,
     .read = read_command,
     .value = {"command", [](const Server& s) { return json::value(show_command(s.argv)); },
               same<&Server::argv>},
     .text = {.line = "command",
              .phrase = [](const Server& s) { return show_command(s.argv); },
              .verbatim = true},
     .doc = "the program"},
    {.key = "args",
     .place = kEntry,
     .read = [](Reading& reading, const Field& field, Draft& draft) { draft.args = reading.texts(field); },
     .value = {"", nullptr, same<&Server::argv>},
     .doc = "its arguments"},
    {.key = "env",
     .place = kEntry,
     .read = read_env,
     .value = {"env", show_env, same_set<&Server::env>, copy<&Server::env>},
     .text = {.line = "env", .phrase = env_lines, .verbatim = true},
     .flag = "--env",
     .doc = "variables for the server"},
    {.key = "cwd",
     .place = kEntry,
     .read = read_cwd,
     .value = value<&Server::cwd>("cwd"),
     .text = {.line = "cwd", .phrase = cwd_text, .verbatim = true},
     .flag = "--cwd",
     .doc = "working directory"},
    {.key = "description",
     .place = OptionPlace::Both,
     .read = read_description,
     .value = value<&Server::description>("description"),
     .on_reload = OnReload::Nothing,
     .text = {"about", [](const Server& s) { return printable(s.description); }},
     .about = true,
     .doc = "what the server is for"},
    {.key = "share",
     .read = read_share,
     .value = value<&Server::share>("share"),
     .text = {"share", share_text},
     .flag = "--share",
     .doc = "which sessions share an instance"},
    {.key = "stateless",
     .read = read_flag<&Server::stateless>,
     .value = value<&Server::stateless>("stateless"),
     .doc = "you declare, as evidence for `auto`, that calls do not depend on each other"},
    {.key = "ignore",
     .read = read_ignore,
     .value = {"ignore", show<&Server::ignore>, same_set<&Server::ignore>, copy<&Server::ignore>},
     .text = {"ignores", [](const Server& s) { return listed(s.ignore); }},
     .doc = "what makes no difference to the server: `\"cwd\"`, `\"PATH\"`, or names of variables"},
    {.key = "roots",
     .read = read_roots,
     .value = value<&Server::roots>("roots"),
     .doc = "with `\"share\": \"root\"`: absolute paths of the projects that every token may name"},
    {.key = "disabled",
     .synonyms = {"enabled"},
     .place = kEntry,
     .read = read_disabled,
     .value = value<&Server::disabled>("disabled"),
     .doc = "the server is off"},
    {.key = "tools",
     .synonyms = {"includeTools", "enabled_tools"},
     .place = kEntry,
     .read = read_tools,
     .value = {"tools", show<&Server::tools>, same_tools, copy<&Server::tools>},
     .text = {"tools", tools_text},
     .doc = "the only tools that clients see and may call"},
    {.key = "deny",
     .synonyms = {"excludeTools", "disabled_tools", "disabledTools"},
     .place = kEntry,
     .read = read_deny,
     .value = {"deny", show<&Server::deny>, same_set<&Server::deny>, copy<&Server::deny>},
     .text = {"deny", [](const Server& s) { return listed(s.deny); }},
     .doc = "tools that clients neither see nor may call"},
    {.key = "timeout",
     .place = OptionPlace::Both,
     .read = read_timeout,
     .value = value<&Server::timeout>("timeout_ms"),
     .text = {"timeout",
              [](const Server& s) { return s.timeout ? show_duration(*s.timeout) + " for one call" : ""; }},
     .doc = "how long one call may take"},
    {.key = "containment",
     .read = read_containment,
     .value = value<&Server::containment>("containment"),
     .text = {"kept by",
              [](const Server& s) { return std::string("containment ") + name_of(s.containment); }},
     .doc = "how its processes are contained"},
    {.key = "memory",
     .read = read_size<&proc::Limits::memory_bytes>,
     .value = value<&proc::Limits::memory_bytes>("limits.memory_bytes"),
     .text = {"kept by", [](const Server& s) { return size_text("memory ", s.limits.memory_bytes); }},
     .doc = "memory that the whole tree may use"},
    {.key = "pids",
     .read = [](Reading& reading, const Field& field,
                Draft& draft) { store<&proc::Limits::processes>(reading.whole_number(field, 1), draft); },
     .value = value<&proc::Limits::processes>("limits.pids"),
     .text = {"kept by", processes_text},
     .doc = "processes in the whole tree"},
    {.key = "cpu",
     .read = [](Reading& reading, const Field& field,
                Draft& draft) { store<&proc::Limits::cpu_thousandths>(reading.cores(field), draft); },
     .value = {"limits.cpu", show_cores, same<&proc::Limits::cpu_thousandths>,
               copy<&proc::Limits::cpu_thousandths>},
     .text = {"kept by", cores_text},
     .doc = "processor time that the whole tree may use"},
    {.key = "eager",
     .read = read_flag<&Server::eager>,
     .value = value<&Server::eager>("eager"),
     .text = {"start",
              [](const Server& s) {
                return std::string(s.eager ? "when a session attaches" : "at the first call that needs it");
              }},
     .doc = "start the server when a session attaches"},
    {.key = "warm",
     .read = [](Reading& reading, const Field& field,
                Draft& draft) { store<&Server::warm>(reading.whole_number(field, 0, kMostWarm), draft); },
     .value = value<&Server::warm>("warm"),
     .text = {"start",
              [](const Server& s) {
                return s.warm > 0 ? "with " + std::to_string(s.warm) + " kept ready" : "";
              }},
     .doc = "how many private instances, 0 to 64, are kept ready"},
    {.key = "min_version",
     .read = [](Reading& reading, const Field& field,
                Draft& draft) { store<&Server::min_version>(reading.version(field), draft); },
     .value = value<&Server::min_version>("min_version"),
     .text = {"start",
              [](const Server& s) {
                return s.min_version.empty() ? "" : "only if its version is " + s.min_version + " or later";
              }},
     .doc = "the oldest version of the server"},
    {.key = "era",
     .read = read_era,
     .value = {"era", [](const Server& s) { return json::value(era_name(s.modern)); }, same<&Server::modern>,
               copy<&Server::modern>},
     .text = {"start", era_text},
     .doc = "which protocol the server uses"},
    {.key = "on_change",
     .read = read_on_change,
     .value = value<&Server::on_change>("on_change"),
     .text = {"start", change_text, "; "},
     .doc = "what to do when the files that the server runs from change"},
    {.key = "restart",
     .read = read_flag<&Server::restart>,
     .value = value<&Server::restart>("restart"),
     .text = {"life",
              [](const Server& s) {
                return std::string(s.restart ? "restarted after a crash" : "not restarted after a crash");
              }},
     .doc = "a server that died is started again"},
    {.key = "probe",
     .read = read_probe,
     .value = value<&Server::probe>("probe_ms"),
     .text = {"life", probe_text},
     .doc = "after how much silence corral asks a server whether it still answers"},
    {.key = "idle",
     .read = read_duration<&Server::idle>,
     .value = value<&Server::idle>("idle_ms"),
     .text = {"life",
              [](const Server& s) { return "stopped after " + show_duration(s.idle) + " without use"; }},
     .doc = "how long an instance without sessions stays"},
    {.key = "recycle",
     .read = read_size<&Server::recycle>,
     .value = value<&Server::recycle>("recycle_bytes"),
     .text = {"life",
              [](const Server& s) { return size_text("replaced when it uses more than ", s.recycle); }},
     .doc = "memory of the whole tree"},
    {.key = "park",
     .read = read_flag<&Server::park>,
     .value = value<&Server::park>("park"),
     .text = {"life", park_text},
     .doc = "whether the instance of one silent session is ended after `idle`"},
    {.key = "unattended",
     .read = read_duration<&Server::unattended>,
     .value = value<&Server::unattended>("unattended_ms"),
     .on_reload = OnReload::Nothing,
     .text = {"life", unattended_text},
     .doc = "how long nobody may be attached to a client's background process before its servers are parked"},
    {.key = "stdin_grace",
     .read = read_duration<&Server::stdin_grace>,
     .value = value<&Server::stdin_grace>("stdin_grace_ms"),
     .text = {"end", [](const Server& s) { return show_duration(s.stdin_grace) + " after its input ended"; }},
     .doc = "from the end of its input to SIGTERM"},
    {.key = "term_grace",
     .read = read_duration<&Server::term_grace>,
     .value = value<&Server::term_grace>("term_grace_ms"),
     .text = {"end", [](const Server& s) { return show_duration(s.term_grace) + " after SIGTERM"; },
              ", then "},
     .doc = "from SIGTERM to SIGKILL"},
    {.key = "on_stop",
     .read = read_text<&Server::on_stop>,
     .value = {"on_stop",
               [](const Server& s) {
                 return s.on_stop.empty() ? json::value() : json::value(show_command({s.on_stop}));
               },
               same<&Server::on_stop>, copy<&Server::on_stop>},
     .text = {.line = "on stop",
              .phrase = [](const Server& s) { return s.on_stop.empty() ? "" : show_command({s.on_stop}); },
              .verbatim = true},
     .doc = "a shell command that runs when the tree is gone"},
};

}  // namespace

bool ServerOption::is_called(std::string_view name) const {
  if (name.empty()) return false;  // unused synonyms are empty
  return key == name || std::find(synonyms.begin(), synonyms.end(), name) != synonyms.end();
}

std::span<const ServerOption> server_options() { return kOptions; }

const ServerOption* find_option(std::string_view key) {
  const auto found = std::find_if(std::begin(kOptions), std::end(kOptions),
                                  [&](const ServerOption& option) { return option.is_called(key); });
  return found == std::end(kOptions) ? nullptr : found;
}

}  // namespace corral::config
