#include "config/option_readers.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "base/ignored_words.h"
#include "base/secrets.h"

namespace corral::config {
namespace {

void warn_of_tilde(Reading& reading, const Field& field, const std::string& path) {
  if (!path.starts_with("~")) return;
  reading.warn(field.place.value, field.naming() + " begins with '~', which only a shell understands",
               "Write ${HOME} instead");
}

void warn_of_milliseconds(Reading& reading, const Field& field, std::chrono::milliseconds time) {
  if (!field.value.is_number() || time >= std::chrono::seconds(1)) return;
  reading.warn(field.place.value,
               field.naming() + " is less than a second, because a number means milliseconds",
               R"(Write seconds as a string: "30s")");
}

}  // namespace

void read_env(Reading& reading, const Field& field, Draft& draft) {
  if (!field.value.is_object()) {
    return reading.fail(field.place.value, field.naming() + " must be an object",
                        R"(Write "env": {"NAME": "value"})");
  }
  reading.each_member(field.value, field.place.value, field.naming(), [&](const Field& variable) {
    if (!can_name_variable(variable.key)) {
      return reading.fail(variable.place.key, variable.naming() + " is not a valid variable name",
                          "Write a name without '='");
    }
    if (!reading.check_text(variable, variable.value, variable.place.value)) return;
    draft.server.env.emplace_back(variable.key, std::string(variable.value.get_string()));
  });
}

void read_command(Reading& reading, const Field& field, Draft& draft) {
  if (field.value.is_array()) {
    return reading.fail(field.place.value, field.naming() + " must be one string",
                        R"(Write the program in "command" and the rest in "args")");
  }
  if (auto program = reading.text(field)) draft.command = std::move(*program);
  warn_of_tilde(reading, field, draft.command);
}

void read_cwd(Reading& reading, const Field& field, Draft& draft) {
  const std::optional<std::string> path = reading.text(field);
  if (!path) return;
  if (!path->starts_with("/") && !path->starts_with("${")) {
    return reading.fail(field.place.value, field.naming() + " must be an absolute path",
                        "Start it with '/' or ${HOME}, or remove it to use the client's working directory");
  }
  draft.server.cwd = *path;
}

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

void read_timeout(Reading& reading, const Field& field, Draft& draft) {
  const std::optional<std::chrono::milliseconds> time = reading.duration(field);
  if (!time) return;
  if (time->count() == 0) {
    return reading.fail(field.place.value, field.naming() + " is zero, so every call would time out",
                        "Remove it to use no limit");
  }
  warn_of_milliseconds(reading, field, *time);
  draft.server.timeout = time;
}

void read_share(Reading& reading, const Field& field, Draft& draft) {
  constexpr std::array<std::string_view, 4> kWords = {"auto", "shared", "session", "root"};
  constexpr std::array<Share, 4> kShares = {Share::Auto, Share::Shared, Share::Session, Share::Root};
  if (const auto index = reading.choice(field, kWords)) draft.server.share = kShares[*index];
}

void read_containment(Reading& reading, const Field& field, Draft& draft) {
  constexpr std::array<std::string_view, 3> kWords = {"auto", "strict", "basic"};
  constexpr std::array<proc::Containment, 3> kLevels = {proc::Containment::Auto, proc::Containment::Strict,
                                                        proc::Containment::Basic};
  if (const auto index = reading.choice(field, kWords)) draft.server.containment = kLevels[*index];
}

void read_probe(Reading& reading, const Field& field, Draft& draft) {
  const std::optional<std::chrono::milliseconds> time = reading.duration(field);
  if (!time) return;
  if (time->count() > 0) warn_of_milliseconds(reading, field, *time);  // zero switches probes off
  draft.server.probe = *time;
}

void read_era(Reading& reading, const Field& field, Draft& draft) {
  constexpr std::array<std::string_view, 3> kWords = {"auto", "legacy", "modern"};
  constexpr std::array<std::optional<bool>, 3> kModern = {std::nullopt, false, true};
  if (const auto index = reading.choice(field, kWords)) draft.server.modern = kModern[*index];
}

void read_on_change(Reading& reading, const Field& field, Draft& draft) {
  constexpr std::array<std::string_view, 3> kWords = {"roll", "warn", "ignore"};
  constexpr std::array<OnChange, 3> kChanges = {OnChange::Roll, OnChange::Warn, OnChange::Ignore};
  if (const auto index = reading.choice(field, kWords)) draft.server.on_change = kChanges[*index];
}

void read_roots(Reading& reading, const Field& field, Draft& draft) {
  if (auto roots = reading.texts(field)) draft.server.roots = std::move(*roots);
  for (const std::string& root : draft.server.roots) {
    if (root.starts_with('/')) continue;
    return reading.fail(field.place.value, field.naming() + " must contain only absolute paths",
                        R"(Write "roots": ["/home/me/project"])");
  }
}

void read_ignore(Reading& reading, const Field& field, Draft& draft) {
  constexpr const char* kHint = R"(Write "ignore": ["cwd", "PATH", "EDITOR"])";
  if (auto names = reading.texts(field)) draft.server.ignore = std::move(*names);
  for (const std::string& name : draft.server.ignore) {
    if (!can_name_variable(name)) {
      return reading.fail(field.place.value,
                          field.naming() + " must contain only \"cwd\" and names of variables", kHint);
    }
    // Two windows with different keys would work with the key of one of them.
    if (names_secret(name)) {
      return reading.fail(field.place.value,
                          field.naming() + " contains " + name + ", which looks like a credential",
                          "Leave it out: sessions with different credentials never share a process");
    }
  }
}

}  // namespace corral::config
