// Shows a configuration to people and programs, with defaults filled in and secrets hidden. Pure.
#pragma once

#include <cstdint>
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
/// The name of a value of Server::modern: "auto", "legacy" or "modern".
const char* era_name(std::optional<bool> modern);

/// The value of a variable for display: `***` if its name or the value itself looks like a secret. A bare
/// ${VAR} is shown, because it only names a variable.
std::string show_variable(const std::string& name, const std::string& value);

/// In the format of the file: "500ms", "2s", "1500ms", "5m".
std::string show_duration(std::chrono::milliseconds time);

/// One line of the output of `config check` about a server.
struct ShownLine {
  std::string_view label;  // valid until the program exits
  std::string text;
  bool verbatim = false;  // for copying: must not be wrapped
};
/// All options of the server, except its name and whether it is disabled; or the command and those that would
/// look different in an entry with nothing but a command.
enum class Lines : std::uint8_t { All, Changed };
std::vector<ShownLine> lines_of(const Server& server, Lines which = Lines::All);

/// The options that describe the server to people, by key. Only options that are set; safe to print on a
/// terminal.
std::map<std::string, std::string> about(const Server& server);

/// One line: {"file", "servers": […], "options", "warnings", …}. docs/configuration.md describes it.
std::string to_json(const Configuration& configuration);

}  // namespace corral::config
