#include "config/entry.h"
#include "base/text.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "base/files.h"
#include "config/locks.h"
#include "config/server_options.h"

namespace corral::config {
namespace {

namespace json = boost::json;

/// Collected before the entry is checked, because its keys may be in any order.
struct Facts {
  Draft draft;
  std::optional<Field> options;  // the `corral` object: read last, because it takes precedence
  bool has_address = false;
  bool has_type = false;
};

constexpr std::array<std::string_view, 2> kLocalTypes = {"stdio", "local"};
constexpr std::array<std::string_view, 6> kRemoteTypes = {"http",           "sse", "streamable-http",
                                                          "streamableHttp", "ws",  "remote"};

/// Whether the entry is for a remote server. corral then ignores its other keys.
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

/// Keys of clients that change the environment of the server. Ignoring them silently would mislead the user.
constexpr std::array<std::string_view, 3> kEnvKeys = {"envFile", "env_vars", "environment"};

/// Keys that only matter to clients, such as approvals and display names.
constexpr std::array<std::string_view, 20> kClientKeys = {"alwaysAllow",
                                                          "autoApprove",
                                                          "trust",
                                                          "displayName",
                                                          "name",
                                                          "title",
                                                          "icon",
                                                          "gallery",
                                                          "version",
                                                          "registry",
                                                          "source",
                                                          "note",
                                                          "notes",
                                                          "comment",
                                                          "_comment",
                                                          "$comment",
                                                          "startup_timeout_sec",
                                                          "startup_timeout_ms",
                                                          "initTimeout",
                                                          "dev"};

template <std::size_t kCount>
bool is_one_of(const std::array<std::string_view, kCount>& keys, const std::string& key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

/// The valid keys: an unknown key may be a misspelling of one of them.
std::vector<std::string> keys_in(OptionPlace place) {
  std::vector<std::string> keys;
  for (const ServerOption& option : server_options()) {
    if (!option.may_be_in(place)) continue;
    keys.emplace_back(option.key);
    for (const std::string_view synonym : option.synonyms) {
      if (!synonym.empty()) keys.emplace_back(synonym);
    }
  }
  if (place == OptionPlace::Corral) return keys;
  keys.insert(keys.end(), {"type", "transport", "corral"});
  keys.insert(keys.end(), kAddressKeys.begin(), kAddressKeys.end());
  keys.insert(keys.end(), kEnvKeys.begin(), kEnvKeys.end());
  return keys;
}

void read_member(Reading& reading, const Field& field, Facts& facts) {
  const ServerOption* const option = find_option(field.key);
  if (option != nullptr && option->may_be_in(OptionPlace::Entry)) {
    if (!reading.is_locked(field, option->key)) option->read(reading, field, facts.draft);
    return;
  }
  if (field.key == "corral") {
    facts.options.emplace(field);
  } else if (field.key == "type" || field.key == "transport") {
    facts.has_type = reading.choice(field, kLocalTypes).has_value();
  } else if (is_one_of(kAddressKeys, field.key)) {
    facts.has_address = true;
  } else if (is_one_of(kEnvKeys, field.key)) {
    reading.warn(field.place.key, field.naming() + " is a key of another client and has no effect here",
                 R"(Write each variable in "env"; ${NAME} takes it from the client's environment)");
  } else if (!is_one_of(kClientKeys, field.key)) {
    reading.warn_unknown(field, keys_in(OptionPlace::Entry));
  }
}

void read_option(Reading& reading, const Field& field, Draft& draft) {
  const ServerOption* const option = find_option(field.key);
  if (option != nullptr && option->may_be_in(OptionPlace::Corral)) {
    if (!reading.is_locked(field, option->key)) option->read(reading, field, draft);
    return;
  }
  // Ignoring a list of tools would allow every tool, so this is an error and not only a warning.
  if (option == nullptr || (option->key != "tools" && option->key != "deny")) {
    return reading.warn_unknown(field, keys_in(OptionPlace::Corral));
  }
  reading.fail(field.place.key, field.naming() + " has no effect in this object",
               "Write \"" + field.key + "\" next to \"command\"");
}

void read_options(Reading& reading, const Field& field, Draft& draft) {
  if (!field.value.is_object()) {
    return reading.fail(field.place.value, field.naming() + " must be an object",
                        R"(Write "corral": {"share": "auto"})");
  }
  reading.each_member(field.value, field.place.value, field.naming(),
                      [&](const Field& option) { read_option(reading, option, draft); });
}

void check_command(Reading& reading, const Field& entry, const Facts& facts) {
  const std::string owner = "server '" + entry.key + "'";
  const auto& args = facts.draft.args;
  if (facts.draft.command.empty()) {
    return reading.fail(entry.place.key, owner + " has no \"command\"",
                        R"(Add "command": "PROGRAM", or remove the server)");
  }
  if (facts.has_address && !facts.has_type) {
    return reading.fail(entry.place.key, owner + " has both a \"command\" and a URL",
                        R"(Keep one of them, or add "type": "stdio")");
  }
  if (base_name(facts.draft.command) == "corral" && args && !args->empty() && args->front() == "connect") {
    return reading.fail(entry.place.key,
                        owner + " would run `corral connect`, which would connect to corral itself",
                        "Write the server's own command");
  }
  if (!facts.draft.args && facts.draft.command.find(' ') != std::string::npos &&
      facts.draft.command.front() != '/') {
    reading.warn(entry.place.key,
                 "the \"command\" of " + owner + " contains spaces and is treated as the name of one program",
                 R"(Write the arguments of the program in "args")");
  }
}

}  // namespace

std::string objection_to_name(const std::string& name) {
  constexpr std::size_t kLongest = 200;
  if (name.empty()) return "a server's name is empty";
  if (name == "corral") return "the name 'corral' is reserved for corral's own server";
  if (name.size() > kLongest) return "a server's name is longer than 200 bytes";
  if (printable(name) != name) return "a server's name contains characters that cannot be shown";
  if (name.find('/') != std::string::npos) return "the name '" + name + "' contains a '/'";
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
    reading.warn(entry.place.key,
                 owner + " is a remote server and is left out: corral manages local processes",
                 "Leave it in the client's own configuration");
    return std::nullopt;
  }

  Facts facts;
  Draft& draft = facts.draft;
  draft.server.name = entry.key;
  draft.server.file = reading.file();
  draft.server.line = reading.line_of(entry.place.key);
  reading.each_member(entry.value, entry.place.value, owner,
                      [&](const Field& field) { read_member(reading, field, facts); });
  if (reading.failed()) return std::nullopt;
  draft.place = OptionPlace::Corral;
  if (facts.options) read_options(reading, *facts.options, draft);
  check_command(reading, entry, facts);
  if (reading.failed()) return std::nullopt;
  draft.server.argv.push_back(std::move(draft.command));
  if (draft.args) std::move(draft.args->begin(), draft.args->end(), std::back_inserter(draft.server.argv));
  if (reading.machine() != nullptr) apply_locked_options(*reading.machine(), draft.server);
  return std::move(draft.server);
}

}  // namespace corral::config
