// Every option of an entry of `mcpServers`, one row each: how its value is read, shown and compared, and what
// changing it means. The parser (entry.cc), the reload (changes.cc) and `config check` (show.cc) follow
// this table, so a new option needs a field of Server and a row here. `import` (import_entry.cc) does not use
// the table: it has its own lists of the spellings of other clients, which must be extended there. Pure; any
// thread may call.
#pragma once

#include <array>
#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/configuration.h"
#include "config/reading.h"

namespace corral::config {

/// Where the key may be written.
enum class OptionPlace : std::uint8_t {
  Entry,   // next to "command", as clients write it
  Corral,  // in the "corral" object of the entry
  Both,    // in either; the "corral" object takes precedence
};

/// What the daemon does when the file is read again and the value has changed.
enum class OnReload : std::uint8_t {
  Replace,  // the instances of the server finish their calls and are replaced
  Nothing,  // the new value is shown; no instance ends
};

/// An entry while its keys are read, in the order of the file.
struct Draft {
  OptionPlace place = OptionPlace::Entry;  // of the key that is being read; never Both
  Server server;
  std::string command;
  std::optional<std::vector<std::string>> args;
};

struct ServerOption {
  /// How one value of a Server is shown as JSON and compared.
  struct Value {
    /// The key in `config check --json`. "limits.cpu" is a member of "limits" and omitted if it is not set.
    /// Empty if another row shows the value.
    std::string_view json_key{};
    boost::json::value (*json)(const Server&) = nullptr;
    bool (*same)(const Server&, const Server&) = nullptr;  // may ignore the order of lists
    /// Gives the second server the value of the first. Null if the option cannot be locked.
    void (*copy)(const Server&, Server&) = nullptr;
  };
  /// A part of a line of `config check`. Rows with the same line follow each other.
  struct Text {
    std::string_view line{};                         // empty = not shown there
    std::string (*phrase)(const Server&) = nullptr;  // may return several lines; empty = nothing to show
    std::string_view joiner = ", ";                  // between the previous phrase and this one
    bool verbatim = false;                           // for copying: neither joined nor wrapped
  };

  std::string_view key;
  std::array<std::string_view, 3> synonyms{};  // spellings of other clients; unused ones are empty
  OptionPlace place = OptionPlace::Corral;
  void (*read)(Reading&, const Field&, Draft&) = nullptr;  // calls fail() if the value is invalid
  Value value{};
  OnReload on_reload = OnReload::Replace;
  Text text{};
  bool about = false;       // a text for people, which the status includes and pages show with the server
  std::string_view flag{};  // of `corral add`; empty = only in the file
  std::string_view doc;     // the beginning of its meaning in docs/configuration.md

  bool is_called(std::string_view name) const;
  bool may_be_in(OptionPlace where) const { return place == where || place == OptionPlace::Both; }
};

/// In the order in which `config check` shows them.
std::span<const ServerOption> server_options();
/// Finds an option by its key or a synonym; null if there is none.
const ServerOption* find_option(std::string_view key);

}  // namespace corral::config
