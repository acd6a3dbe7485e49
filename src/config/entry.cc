#include "config/entry.h"
#include "base/text.h"
#include "config/watch_object.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "base/files.h"
#include "config/limits.h"

namespace corral::config {
namespace {

namespace json = boost::json;

/// What is gathered before it can be judged: keys stand in any order.
struct Draft {
  Server server;
  std::string command;
  std::vector<std::string> args;
  std::optional<Field> options;  // the `corral` object: read last, because it has the last word
  bool has_url = false;
  bool has_type = false;
  bool has_args = false;
};

/// A key and what it does; one without an `apply` is known, and none of our business.
template <class Target>
struct Key {
  std::string_view name;
  void (*apply)(Reading&, const Field&, Target&) = nullptr;
};

template <class Value, class Target>
void store(std::optional<Value> value, Target& target) {
  if (value) target = std::move(*value);
}

template <class Target, std::size_t kCount>
void apply_key(Reading& reading, const Field& field, const std::array<Key<Target>, kCount>& keys,
               Target& target) {
  const auto key = std::find_if(keys.begin(), keys.end(),
                                [&](const Key<Target>& known) { return known.name == field.key; });
  if (key == keys.end()) {
    std::vector<std::string> known;
    for (const Key<Target>& candidate : keys) {
      if (candidate.apply != nullptr) known.emplace_back(candidate.name);
    }
    return reading.warn_unknown(field, known);
  }
  if (key->apply != nullptr) key->apply(reading, field, target);
}

bool names_variable(const std::string& name) {
  return !name.empty() && name.find('=') == std::string::npos && name.find('\0') == std::string::npos;
}

void read_env(Reading& reading, const Field& field, Draft& draft) {
  if (!field.value.is_object()) {
    return reading.fail(field.place.value, field.naming() + " must be an object",
                        R"(Write "env": {"NAME": "value"})");
  }
  reading.each_member(field.value, field.place.value, field.naming(), [&](const Field& variable) {
    if (!names_variable(variable.key)) {
      return reading.fail(variable.place.key, variable.naming() + " is no name of a variable",
                          "Write a name without '='");
    }
    if (!reading.check_text(variable, variable.value, variable.place.value)) return;
    draft.server.env.emplace_back(variable.key, std::string(variable.value.get_string()));
  });
}

constexpr std::array<std::string_view, 2> kLocalTypes = {"stdio", "local"};
constexpr std::array<std::string_view, 6> kRemoteTypes = {"http",           "sse", "streamable-http",
                                                          "streamableHttp", "ws",  "remote"};

/// Whether the entry is for a server that runs elsewhere. Its other keys are then not ours to judge.
bool is_remote(const json::object& entry) {
  for (const std::string_view key : {"type", "transport"}) {
    const json::value* type = entry.if_contains(key);
    if (type == nullptr || !type->is_string()) continue;
    const std::string_view word = type->get_string();
    if (std::find(kRemoteTypes.begin(), kRemoteTypes.end(), word) != kRemoteTypes.end()) return true;
  }
  if (entry.if_contains("command") != nullptr) return false;
  return std::any_of(kAddressKeys.begin(), kAddressKeys.end(),
                     [&](std::string_view key) { return entry.if_contains(key) != nullptr; });
}

void read_type(Reading& reading, const Field& field, Draft& draft) {
  draft.has_type = reading.choice(field, kLocalTypes).has_value();
}

void warn_of_tilde(Reading& reading, const Field& field, const std::string& path) {
  if (!path.starts_with("~")) return;
  reading.warn(field.place.value, field.naming() + " begins with '~', which only a shell understands",
               "Write ${HOME} instead");
}

void read_command(Reading& reading, const Field& field, Draft& draft) {
  if (field.value.is_array()) {
    return reading.fail(field.place.value, field.naming() + " must be one text",
                        R"(Write the program in "command" and the rest in "args")");
  }
  store(reading.text(field), draft.command);
  warn_of_tilde(reading, field, draft.command);
}

void read_args(Reading& reading, const Field& field, Draft& draft) {
  draft.has_args = true;
  store(reading.texts(field), draft.args);
}

void read_cwd(Reading& reading, const Field& field, Draft& draft) {
  const std::optional<std::string> path = reading.text(field);
  if (!path) return;
  if (!path->starts_with("/") && !path->starts_with("${")) {
    return reading.fail(field.place.value, field.naming() + " must be an absolute path",
                        "Begin it with '/' or ${HOME}, or remove it to use the client's working directory");
  }
  draft.server.cwd = *path;
}

/// Clients have several words for the list of allowed tools. One file may be for more than one of them, and
/// some demand a list of everything.
void read_tools(Reading& reading, const Field& field, Draft& draft) {
  std::optional<std::vector<std::string>> given = reading.texts(field);
  if (!given) return;
  std::optional<std::vector<std::string>>& tools = draft.server.tools;
  if (tools && names_every_tool(*given)) return;
  if (tools && !names_every_tool(*tools)) {
    return reading.fail(field.place.key, field.naming() + " is a second list of allowed tools",
                        R"(Keep one of "tools", "includeTools" and "enabled_tools")");
  }
  tools = std::move(given);
}

/// What any of the lists denies is denied.
void read_deny(Reading& reading, const Field& field, Draft& draft) {
  const std::optional<std::vector<std::string>> given = reading.texts(field);
  if (!given) return;
  draft.server.deny.insert(draft.server.deny.end(), given->begin(), given->end());
}

void read_disabled(Reading& reading, const Field& field, Draft& draft) {
  const std::optional<bool> value = reading.flag(field);
  const bool off = value && *value == (field.key == "disabled");
  draft.server.disabled = draft.server.disabled || off;
}

void warn_of_milliseconds(Reading& reading, const Field& field, std::chrono::milliseconds time) {
  if (!field.value.is_number() || time >= std::chrono::seconds(1)) return;
  reading.warn(field.place.value,
               field.naming() + " is less than a second, because a number means milliseconds",
               R"(Write seconds as a text: "30s")");
}

template <class Target>
void read_timeout(Reading& reading, const Field& field, Target& target) {
  const std::optional<std::chrono::milliseconds> time = reading.duration(field);
  if (!time) return;
  if (time->count() == 0) {
    return reading.fail(field.place.value, field.naming() + " is zero, and no call could be answered in that",
                        "Remove it to wait for ever");
  }
  warn_of_milliseconds(reading, field, *time);
  if constexpr (std::is_same_v<Target, Draft>) {
    target.server.timeout = time;
  } else {
    target.timeout = time;
  }
}

/// Keys of clients that do change what the server is given: silence would mislead.
void warn_of_env_keys(Reading& reading, const Field& field, Draft&) {
  reading.warn(field.place.key, field.naming() + " is a key of another client and does nothing here",
               R"(Write each variable in "env"; ${NAME} takes it from the client's environment)");
}

constexpr std::array<Key<Draft>, 45> kEntryKeys = {{
    {"command", read_command},
    {"args", read_args},
    {"env", read_env},
    {"cwd", read_cwd},
    {"type", read_type},
    {"transport", read_type},
    {"tools", read_tools},
    {"includeTools", read_tools},
    {"enabled_tools", read_tools},
    {"deny", read_deny},
    {"excludeTools", read_deny},
    {"disabled_tools", read_deny},
    {"disabledTools", read_deny},
    {"disabled", read_disabled},
    {"enabled", read_disabled},
    {"timeout", read_timeout<Draft>},
    {"corral", [](Reading&, const Field& field, Draft& draft) { draft.options.emplace(field); }},
    {"url", [](Reading&, const Field&, Draft& draft) { draft.has_url = true; }},
    {"httpUrl", [](Reading&, const Field&, Draft& draft) { draft.has_url = true; }},
    {"serverUrl", [](Reading&, const Field&, Draft& draft) { draft.has_url = true; }},
    {"baseUrl", [](Reading&, const Field&, Draft& draft) { draft.has_url = true; }},
    {"envFile", warn_of_env_keys},
    {"env_vars", warn_of_env_keys},
    {"environment", warn_of_env_keys},
    // What clients keep for themselves: who approved what, and how it is shown.
    {"alwaysAllow"},
    {"autoApprove"},
    {"trust"},
    {"description"},
    {"displayName"},
    {"name"},
    {"title"},
    {"icon"},
    {"gallery"},
    {"version"},
    {"registry"},
    {"source"},
    {"note"},
    {"notes"},
    {"comment"},
    {"_comment"},
    {"$comment"},
    {"startup_timeout_sec"},
    {"startup_timeout_ms"},
    {"initTimeout"},
    {"dev"},
}};

void read_share(Reading& reading, const Field& field, Server& server) {
  constexpr std::array<std::string_view, 4> kWords = {"auto", "shared", "session", "root"};
  constexpr std::array<Share, 4> kShares = {Share::Auto, Share::Shared, Share::Session, Share::Root};
  if (const auto index = reading.choice(field, kWords)) server.share = kShares[*index];
}

void read_containment(Reading& reading, const Field& field, Server& server) {
  constexpr std::array<std::string_view, 3> kWords = {"auto", "strict", "basic"};
  constexpr std::array<proc::Containment, 3> kLevels = {proc::Containment::Auto, proc::Containment::Strict,
                                                        proc::Containment::Basic};
  if (const auto index = reading.choice(field, kWords)) server.containment = kLevels[*index];
}

void read_probe(Reading& reading, const Field& field, Server& server) {
  const std::optional<std::chrono::milliseconds> time = reading.duration(field);
  if (!time) return;
  if (time->count() > 0) warn_of_milliseconds(reading, field, *time);  // zero is off
  server.probe = *time;
}

void read_era(Reading& reading, const Field& field, Server& server) {
  constexpr std::array<std::string_view, 3> kWords = {"auto", "legacy", "modern"};
  constexpr std::array<std::optional<bool>, 3> kModern = {std::nullopt, false, true};
  if (const auto index = reading.choice(field, kWords)) server.modern = kModern[*index];
}

void read_on_change(Reading& reading, const Field& field, Server& server) {
  constexpr std::array<std::string_view, 3> kWords = {"roll", "warn", "ignore"};
  constexpr std::array<OnChange, 3> kChanges = {OnChange::Roll, OnChange::Warn, OnChange::Ignore};
  if (const auto index = reading.choice(field, kWords)) server.on_change = kChanges[*index];
}

void read_roots(Reading& reading, const Field& field, Server& server) {
  store(reading.texts(field), server.roots);
  for (const std::string& root : server.roots) {
    if (root.starts_with('/')) continue;
    return reading.fail(field.place.value, field.naming() + " must hold absolute paths",
                        R"(Write "roots": ["/home/me/project"])");
  }
}

constexpr std::array<Key<Server>, 21> kServerKeys = {{
    {"share", read_share},
    {"roots", read_roots},
    {"containment", read_containment},
    {"memory", [](Reading& reading, const Field& field,
                  Server& server) { store(reading.size(field), server.limits.memory_bytes); }},
    {"pids", [](Reading& reading, const Field& field,
                Server& server) { store(reading.whole_number(field, 1), server.limits.processes); }},
    {"cpu", [](Reading& reading, const Field& field,
               Server& server) { store(reading.cores(field), server.limits.cpu_thousandths); }},
    {"stdin_grace", [](Reading& reading, const Field& field,
                       Server& server) { store(reading.duration(field), server.stdin_grace); }},
    {"idle", [](Reading& reading, const Field& field,
                Server& server) { store(reading.duration(field), server.idle); }},
    {"term_grace", [](Reading& reading, const Field& field,
                      Server& server) { store(reading.duration(field), server.term_grace); }},
    {"on_stop", [](Reading& reading, const Field& field,
                   Server& server) { store(reading.text(field), server.on_stop); }},
    {"stateless", [](Reading& reading, const Field& field,
                     Server& server) { store(reading.flag(field), server.stateless); }},
    {"restart", [](Reading& reading, const Field& field,
                   Server& server) { store(reading.flag(field), server.restart); }},
    {"park",
     [](Reading& reading, const Field& field, Server& server) { store(reading.flag(field), server.park); }},
    {"probe", read_probe},
    {"era", read_era},
    {"eager",
     [](Reading& reading, const Field& field, Server& server) { store(reading.flag(field), server.eager); }},
    {"warm", [](Reading& reading, const Field& field,
                Server& server) { store(reading.whole_number(field, 0, kMostWarm), server.warm); }},
    {"on_change", read_on_change},
    {"min_version", [](Reading& reading, const Field& field,
                       Server& server) { read_min_version(reading, field, server.min_version); }},
    {"recycle", [](Reading& reading, const Field& field,
                   Server& server) { store(reading.size(field), server.recycle); }},
    {"timeout", read_timeout<Server>},
}};

/// A list of tools that is read by nobody would guard nothing.
bool is_list_of_tools(const std::string& key) {
  return std::any_of(kEntryKeys.begin(), kEntryKeys.end(), [&](const Key<Draft>& known) {
    return known.name == key && (known.apply == read_tools || known.apply == read_deny);
  });
}

void read_option(Reading& reading, const Field& option, Server& server) {
  if (!is_list_of_tools(option.key)) return apply_key(reading, option, kServerKeys, server);
  reading.fail(option.place.key, option.naming() + " has no effect there",
               "Write \"" + option.key + "\" beside \"command\"");
}

void read_options(Reading& reading, const Field& field, Server& server) {
  if (!field.value.is_object()) {
    return reading.fail(field.place.value, field.naming() + " must be an object",
                        R"(Write "corral": {"share": "auto"})");
  }
  reading.each_member(field.value, field.place.value, field.naming(),
                      [&](const Field& option) { read_option(reading, option, server); });
}

void check_command(Reading& reading, const Field& entry, const Draft& draft) {
  const std::string owner = "server '" + entry.key + "'";
  if (draft.command.empty()) {
    return reading.fail(entry.place.key, owner + " has no \"command\"",
                        R"(Add "command": "PROGRAM", or remove the server)");
  }
  if (draft.has_url && !draft.has_type) {
    return reading.fail(entry.place.key, owner + " has both a \"command\" and an address",
                        R"(Keep one of them, or add "type": "stdio")");
  }
  if (base_name(draft.command) == "corral" && !draft.args.empty() && draft.args.front() == "connect") {
    return reading.fail(entry.place.key, owner + " would run `corral connect`, which leads back here",
                        "Write the server's own command");
  }
  if (!draft.has_args && draft.command.find(' ') != std::string::npos && draft.command.front() != '/') {
    reading.warn(entry.place.key,
                 "the \"command\" of " + owner + " holds blanks and is taken for one program's name",
                 R"(Write what follows the program's name in "args")");
  }
}

}  // namespace

std::string objection_to_name(const std::string& name) {
  constexpr std::size_t kLongest = 200;
  if (name.empty()) return "a server's name is empty";
  if (name == "corral") return "the name 'corral' is reserved for corral's own server";
  if (name.size() > kLongest) return "a server's name has more than 200 bytes";
  if (printable(name) != name) return "a server's name holds characters that cannot be shown";
  if (name.find('/') != std::string::npos) return "the name '" + name + "' holds a '/'";
  if (name.front() == '-') return "the name '" + name + "' looks like an option";
  return "";
}

std::optional<Server> read_entry(Reading& reading, const Field& entry) {
  if (const std::string objection = objection_to_name(entry.key); !objection.empty()) {
    reading.fail(entry.place.key, objection, "Choose another name for this server");
  }
  const std::string owner = "server '" + entry.key + "'";
  if (!reading.failed() && !entry.value.is_object()) {
    reading.fail(entry.place.value, owner + " must be an object",
                 R"(Write {"command": "PROGRAM", "args": []})");
  }
  if (reading.failed()) return std::nullopt;
  if (is_remote(entry.value.get_object())) {
    reading.warn(entry.place.key, owner + " is reached by an address and is left out: corral keeps processes",
                 "Leave it in the client's own configuration");
    return std::nullopt;
  }

  Draft draft;
  draft.server.name = entry.key;
  draft.server.line = reading.line_of(entry.place.key);
  reading.each_member(entry.value, entry.place.value, owner,
                      [&](const Field& field) { apply_key(reading, field, kEntryKeys, draft); });
  if (reading.failed()) return std::nullopt;
  if (draft.options) read_options(reading, *draft.options, draft.server);
  check_command(reading, entry, draft);
  if (reading.failed()) return std::nullopt;
  draft.server.argv.push_back(std::move(draft.command));
  std::move(draft.args.begin(), draft.args.end(), std::back_inserter(draft.server.argv));
  return std::move(draft.server);
}

}  // namespace corral::config
