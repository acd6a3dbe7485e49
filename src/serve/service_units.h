// The text of the files with which a service manager starts the daemon: systemd user units and a launchd
// agent. Pure; cli/commands/service_command.cc decides where they are written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace corral::serve {

struct UnitFacts {
  std::string program;  // absolute
  std::string path;     // PATH for servers whose session has none; empty = the manager's
  std::string config;   // absolute; empty = the default file
  std::optional<std::uint16_t>
      port;  // a TCP port that the manager opens; nothing = the configuration decides
};

/// The first line of every file that corral writes. A file without it must not be changed or removed.
inline constexpr const char* kUnitMark =
    "Written by `corral service install`; `corral service uninstall` removes it.";

std::string service_unit(const UnitFacts& facts);
std::string socket_unit(const UnitFacts& facts);
/// The tests do not run it, because they have no macOS.
std::string launchd_agent(const UnitFacts& facts);

/// The text after the mark, for a comparison with the examples.
std::string service_unit_body(const std::string& exec_start, const std::string& environment_path);
std::string socket_unit_body(std::optional<std::uint16_t> port);

bool has_unit_mark(const std::string& text);

/// A word of ExecStart= or Environment=: quoted where it must be, % doubled.
std::string systemd_word(const std::string& word);

}  // namespace corral::serve
