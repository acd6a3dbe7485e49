// Finds the servers of a client's configuration in the text of the file: where the command and the arguments
// of each are, byte by byte. Pure.
//
// Only these two values are ever changed, and the arguments that the user has written are not rewritten but
// kept as bytes. So a text in which it is not certain what the client reads (a key that is there twice, a
// form that corral does not edit) is refused for that server, with the reason.
#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/text_places.h"
#include "known/known_programs.h"

namespace corral::adopt {

/// How an entry says what it runs.
enum class Shape : std::uint8_t {
  Pair,    // "command": "npx", "args": ["-y", "x"]
  List,    // "command": ["npx", "-y", "x"]
  Object,  // "command": {"path": "npx", "args": ["-y", "x"]}
};

/// What an entry has as its arguments.
enum class Arguments : std::uint8_t { List, Absent, Null };

/// A server as it is in the text.
struct EntryText {
  std::string name;
  std::string table;              // "projects/*/mcpServers"
  std::string project;            // the key in place of '*'; empty = none
  std::vector<std::string> keys;  // from the root of the file to the entry
  int line = 0;                   // of its key; 0 = not found in the text
  boost::json::object value;      // as the parser sees it

  Shape shape = Shape::Pair;
  Arguments arguments = Arguments::Absent;
  std::string refusal;  // why the text must not be edited, as a clause; then the places below are not valid
  /// The member that has the command: "command", or "path" in an object.
  config::MemberPlace command;
  /// The member "args". Valid unless the arguments are absent or part of the command.
  config::MemberPlace args;
  std::size_t before_args = 0;              // the end of the member before "args"; 0 = it is the first one
  std::vector<config::TextRange> elements;  // of the list of arguments, or of the command that is a list
  bool own_lines = false;                   // TOML outside an inline table: each member ends with its line
};

/// A parsed file.
struct ParsedText {
  const std::string& text;
  const boost::json::value& root;
  known::ConfigFormat format;
};

/// All servers in the tables that `servers` names ("projects/*/mcpServers"), in the order of the text.
std::vector<EntryText> find_entries(const ParsedText& parsed, std::string_view servers);

// The two formats. Each adds places, or a refusal, to entries that were found in the parsed value.
void locate_json(const std::string& text, std::vector<EntryText>& entries);
void locate_toml(const std::string& text, std::vector<EntryText>& entries);

/// What the entry runs, as the parser sees it. Null if there is none.
struct CommandValues {
  const boost::json::value* command = nullptr;
  const boost::json::value* args = nullptr;
};
CommandValues command_of(const boost::json::object& entry);

/// The words of the command. Empty if a part of it has another type than a client can run.
std::optional<std::vector<std::string>> words_of(const boost::json::object& entry);

/// Whether a command and its arguments are still the same, without a copy of them.
std::string hash_of(const boost::json::object& entry);

}  // namespace corral::adopt
