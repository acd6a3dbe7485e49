#include "config/import_entry.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <optional>

#include "base/files.h"
#include "base/text.h"
#include "config/entry.h"

namespace corral::config {
namespace {

namespace json = boost::json;

/// What is taken over or has its own note, and what says nothing about the server.
constexpr std::array<std::string_view, 30> kSettledKeys = {
    "command",        "args",          "env",         "environment",
    "envFile",        "env_vars",      "cwd",         "tools",
    "includeTools",   "enabled_tools", "deny",        "excludeTools",
    "disabled_tools", "disabledTools", "timeout",     "tool_timeout_sec",
    "corral",         "disabled",      "enabled",     "type",
    "name",           "title",         "displayName", "note",
    "notes",          "comment",       "_comment",    "$comment",
    "version",        "icon"};
constexpr std::size_t kMostKeysNamed = 10;

/// The value of the first key that exists and is not null.
const json::value* first_of(const json::object& entry, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    const json::value* value = entry.if_contains(key);
    if (value != nullptr && !value->is_null()) return value;
  }
  return nullptr;
}

/// Nothing if the entry has no such key, or something else there.
std::optional<bool> flag_of(const json::object& entry, std::string_view key) {
  const json::value* value = entry.if_contains(key);
  return value != nullptr && value->is_bool() ? std::optional(value->get_bool()) : std::nullopt;
}

/// The value as a client would convert it to a string; empty for null, lists and objects.
std::optional<json::string> as_text(const json::value& value) {
  if (value.is_string()) return value.get_string();
  if (value.is_number() || value.is_bool()) return json::string(json::serialize(value));
  return std::nullopt;
}

bool append_texts(const json::value& list, json::array& target) {
  if (!list.is_array()) return false;
  for (const json::value& element : list.get_array()) {
    const std::optional<json::string> text = as_text(element);
    if (!text) return false;
    target.emplace_back(*text);
  }
  return true;
}

class Translation {
 public:
  Translation(const json::object& entry, const std::string& file_name)
      : entry_(entry), file_name_(file_name) {}

  EntryImport run() {
    if (first_of(entry_, {"command"}) == nullptr) {
      result_.credentials = plain_credentials(entry_);
      return left_out("is left out: it is a remote server; corral manages local processes");
    }
    if (!command() || !unwrap()) return std::move(result_);
    result_.entry["command"] = words_.front();
    if (words_.size() > 1) result_.entry["args"] = json::array(words_.begin() + 1, words_.end());
    if (!environment()) return std::move(result_);
    directory();
    if (!allowed_tools() || !denied_tools()) return std::move(result_);
    timeout();
    if (const json::value* options = first_of(entry_, {"corral"})) result_.entry["corral"] = *options;
    if (flag_of(entry_, "disabled") == true || flag_of(entry_, "enabled") == false)
      result_.entry["disabled"] = true;
    other_keys();
    result_.credentials = plain_credentials(result_.entry);
    return std::move(result_);
  }

 private:
  void note(const std::string& text) { result_.notes.push_back(text); }

  EntryImport left_out(const std::string& why) {
    refuse(why);
    return std::move(result_);
  }

  bool refuse(const std::string& why) {
    result_.entry.clear();
    note(why);
    return false;
  }

  /// A string, with "args"; a list of all words (opencode); or an object with "path" and "args" (older Zed).
  bool command() {
    const json::object* holder = &entry_;
    const json::value* value = entry_.if_contains("command");
    if (value->is_object()) {
      holder = &value->get_object();
      value = first_of(*holder, {"path"});
    }
    if (value != nullptr && value->is_string()) words_.push_back(*value);
    if (value != nullptr && value->is_array() && !append_texts(*value, words_)) words_.clear();
    if (words_.empty() || words_.front().get_string().empty()) {
      return refuse("is left out: its \"command\" is not a string");
    }
    const json::value* arguments = first_of(*holder, {"args"});
    if (arguments != nullptr && !append_texts(*arguments, words_)) {
      return refuse("is left out: its \"args\" is not a list of strings");
    }
    const std::string_view program = words_.front().get_string();
    if (program.starts_with("~/")) words_.front() = json::string("${HOME}" + std::string(program.substr(1)));
    return true;
  }

  /// Removes corral from the command of a server: `run -- CMD` and `connect -- CMD` become CMD.
  bool unwrap() {
    if (base_name(std::string_view(words_.front().get_string())) != "corral") return true;
    const auto dashes = std::find(words_.begin(), words_.end(), json::value("--"));
    const bool has_command = dashes != words_.end() && dashes + 1 != words_.end();
    if (!has_command) return refuse("is left out: it already uses corral");
    if (dashes - words_.begin() > 2) note("loses the options of its `corral` command");
    words_.erase(words_.begin(), dashes + 1);
    return true;
  }

  /// Keys that corral has no meaning for: the user must know that they have no effect on the new entry.
  void other_keys() {
    std::string keys;
    std::size_t count = 0;
    for (const auto& [key, value] : entry_) {
      if (std::find(kSettledKeys.begin(), kSettledKeys.end(), key) != kSettledKeys.end()) continue;
      if (++count > kMostKeysNamed) continue;
      keys += (keys.empty() ? "\"" : ", \"") + printable(std::string_view(key).substr(0, 100)) + "\"";
    }
    if (count > kMostKeysNamed) keys += " and " + std::to_string(count - kMostKeysNamed) + " more";
    if (count > 0)
      note("is added without " + keys + ": only the client uses that, so leave it in the client's file");
  }

  bool environment() {
    const json::value* given = first_of(entry_, {"env", "environment"});
    if (const json::value* inner = entry_.if_contains("command"); given == nullptr && inner->is_object()) {
      given = first_of(inner->get_object(), {"env"});
    }
    if (given == nullptr) return true;
    if (!given->is_object()) return refuse("is left out: its \"env\" is not an object");
    json::object variables;
    for (const auto& [name, value] : given->get_object()) {
      if (value.is_null()) continue;
      const std::optional<json::string> text = as_text(value);
      if (!text) return refuse("is left out: a value in its \"env\" is not a string");
      variables[name] = *text;
    }
    if (!variables.empty()) result_.entry["env"] = std::move(variables);
    if (first_of(entry_, {"envFile", "env_vars"}) != nullptr) {
      note("loses its \"envFile\" or \"env_vars\": write the variables in \"env\"");
    }
    return true;
  }

  void directory() {
    const json::value* given = first_of(entry_, {"cwd"});
    if (given == nullptr || !given->is_string()) return;
    const std::string_view path = given->get_string();
    if (path.starts_with("~/")) {
      result_.entry["cwd"] = "${HOME}" + std::string(path.substr(1));
    } else if (path.starts_with("/") || (path.starts_with("${") && !path.starts_with("${workspaceFolder"))) {
      result_.entry["cwd"] = path;
    } else {
      note("loses its \"cwd\", which is relative: it will start in the client's directory");
    }
  }

  /// The intersection of all lists. An invalid list must not have the effect of allowing every tool.
  bool allowed_tools() {
    std::optional<json::array> allowed;
    for (const std::string_view key : {"tools", "includeTools", "enabled_tools"}) {
      const json::value* given = first_of(entry_, {key});
      json::array names;
      if (given == nullptr) continue;
      if (!append_texts(*given, names))
        return refuse("is left out: its list of allowed tools is not a list of strings");
      if (std::find(names.begin(), names.end(), json::value("*")) != names.end()) continue;
      if (allowed) {
        note("has several lists of allowed tools: only tools that are in all of them are kept");
        const json::array other = std::exchange(names, {});
        std::copy_if(allowed->begin(), allowed->end(), std::back_inserter(names),
                     [&](const json::value& name) {
                       return std::find(other.begin(), other.end(), name) != other.end();
                     });
      }
      allowed = std::move(names);
    }
    if (allowed) result_.entry["tools"] = std::move(*allowed);
    return true;
  }

  bool denied_tools() {
    json::array names;
    for (const std::string_view key : {"deny", "excludeTools", "disabled_tools", "disabledTools"}) {
      const json::value* given = first_of(entry_, {key});
      if (given == nullptr || append_texts(*given, names)) continue;
      return refuse("is left out: its list of denied tools is not a list of strings");
    }
    if (!names.empty()) result_.entry["deny"] = std::move(names);
    return true;
  }

  void timeout() {
    const json::value* seconds = first_of(entry_, {"tool_timeout_sec"});
    const json::value* given = first_of(entry_, {"timeout"});
    const bool counts_seconds = file_name_ == "cline_mcp_settings.json" || file_name_ == "mcp_settings.json";
    if (seconds == nullptr && counts_seconds) std::swap(seconds, given);
    constexpr std::int64_t kLongest = 24 * 60 * 60;
    const auto counts = [](const json::value* value, std::int64_t least, std::int64_t most) {
      return value != nullptr && value->is_int64() && value->get_int64() >= least &&
             value->get_int64() <= most;
    };
    const bool says_unit = given != nullptr && given->is_string();  // parse() checks the unit later
    if (says_unit || (seconds == nullptr && counts(given, 1000, kLongest * 1000))) {
      result_.entry["timeout"] = *given;
    } else if (counts(seconds, 1, kLongest)) {
      result_.entry["timeout"] = std::to_string(seconds->get_int64()) + "s";
    } else if (seconds != nullptr || given != nullptr) {
      note("loses its timeout, whose unit is not clear: write \"timeout\": \"30s\"");
    }
  }

  const json::object& entry_;
  const std::string& file_name_;
  json::array words_;
  EntryImport result_;
};

}  // namespace

bool describes_server(const json::object& entry) {
  return first_of(entry, {"command"}) != nullptr ||
         std::any_of(kAddressKeys.begin(), kAddressKeys.end(),
                     [&](std::string_view key) { return first_of(entry, {key}) != nullptr; });
}

EntryImport import_entry(const json::object& entry, const std::string& file_name) {
  return Translation(entry, file_name).run();
}

}  // namespace corral::config
