// A configuration for people and programs, as it is in force, with whatever looks like a secret hidden.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/configuration.h"

namespace corral::config {

const char* name_of(Share share);
const char* name_of(proc::Containment containment);
const char* name_of(OnChange on_change);
const char* name_of(Foreign foreign);
/// Of Server::modern: "auto", "legacy", "modern".
const char* era_name(std::optional<bool> modern);

/// The value of a variable as it may be shown: `***` if its name or the value itself looks like a secret. A
/// bare ${VAR} is no secret.
std::string show_variable(const std::string& name, const std::string& value);

/// "500ms", "2s", "1500ms", "5m": as it would be written in the file.
std::string show_duration(std::chrono::milliseconds time);

/// A line of `config check` about one server.
struct ShownLine {
  std::string_view label;  // lives as long as the program
  std::string text;
  bool verbatim = false;  // something to paste: must not be wrapped
};
/// All options of the server, except its name and whether it is disabled.
std::vector<ShownLine> lines_of(const Server& server);

/// The options that describe the server to people, by their keys; only those that are set, safe for a
/// terminal.
std::map<std::string, std::string> about(const Server& server);

/// One line: {"file", "servers": […], "options", "warnings"}. docs/configuration.md describes it.
std::string to_json(const Configuration& configuration);

}  // namespace corral::config
