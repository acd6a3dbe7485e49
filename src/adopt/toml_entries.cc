// The places of servers in TOML.
#include <algorithm>
#include <boost/json.hpp>

#include "adopt/entry_text.h"
#include "config/toml_places.h"
#include "known/config_text.h"

namespace corral::adopt {
namespace {

using config::TomlMember;
using config::TomlTable;

void locate_members(const std::string& text, const std::vector<TomlMember>& members, EntryText& entry) {
  const TomlMember* command = nullptr;
  const TomlMember* args = nullptr;
  std::size_t before = 0;
  for (const TomlMember& member : members) {
    if (member.key.front() == "command") command = &member;
    if (member.key.front() == "args") {
      args = &member;
      entry.before_args = before;
    }
    before = member.place.end;
  }
  entry.refusal.clear();
  if (command == nullptr) return;
  if (command->key.size() > 1 || entry.shape == Shape::Object) {
    entry.refusal = "its command is a table, which corral does not edit in TOML";
    return;
  }
  const std::string_view token = std::string_view(text).substr(command->place.value);
  if (token.starts_with("\"\"\"") || token.starts_with("'''")) {
    entry.refusal = "its command is a string of several lines";
    return;
  }
  entry.command = command->place;
  if (entry.shape == Shape::List) entry.elements = config::find_toml_elements(text, command->place.value);
  if (args == nullptr || entry.shape == Shape::List) return;
  entry.args = args->place;
  entry.elements = config::find_toml_elements(text, args->place.value);
}

/// Whether the header or the dotted keys lead to the entry or into it.
bool leads_to(const std::vector<std::string>& keys, const std::vector<std::string>& entry) {
  return std::equal(keys.begin(),
                    keys.begin() + static_cast<std::ptrdiff_t>(std::min(keys.size(), entry.size())),
                    entry.begin());
}

/// The "name" of an element of a list, as the parser reads it; empty if it has none.
std::string name_in(const std::string& text, const TomlTable& element) {
  for (const TomlMember& member : element.members) {
    if (member.key != std::vector<std::string>{"name"}) continue;
    const std::string token = text.substr(member.place.value, member.place.end - member.place.value);
    const known::ConfigText parsed = known::parse_toml_config("k = " + token);
    const boost::json::object* const object = parsed.value.if_object();
    const boost::json::value* const value = object == nullptr ? nullptr : object->if_contains("k");
    if (value != nullptr && value->is_string()) return std::string(value->get_string());
  }
  return "";
}

/// The entry as an element of a list, [[mcp_servers]] with a name. False if there is no such list: the entry
/// is a table of its own then.
bool locate_element(const std::string& text, const std::vector<TomlTable>& tables, config::LineCounter& lines,
                    EntryText& entry) {
  const std::vector<std::string> above(entry.keys.begin(), entry.keys.end() - 1);
  std::vector<const TomlTable*> elements;
  for (const TomlTable& table : tables) {
    if (table.element && table.key == above) elements.push_back(&table);
  }
  const TomlTable* found = nullptr;
  std::size_t same = 0;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const std::string name = name_in(text, *elements[i]);
    same += name == entry.name ? 1 : 0;
    const bool meant = name == entry.name || known::name_by_number(name, i + 1) == entry.name;
    if (!meant || found != nullptr) continue;
    found = elements[i];
    entry.line = lines.line_of(found->at);
  }
  if (found == nullptr) return !elements.empty();
  if (same != 1) {
    entry.refusal = "it has no name of its own; give each server another \"name\"";
    return true;
  }
  entry.own_lines = true;
  locate_members(text, found->members, entry);
  return true;
}

void locate_in(const std::string& text, const std::vector<TomlTable>& tables, config::LineCounter& lines,
               EntryText& entry) {
  if (locate_element(text, tables, lines, entry)) return;
  for (const TomlTable& table : tables) {
    if (!leads_to(table.key, entry.keys)) continue;
    if (table.key == entry.keys) {
      entry.line = lines.line_of(table.at);
      entry.own_lines = true;
      return locate_members(text, table.members, entry);
    }
    for (const TomlMember& member : table.members) {
      std::vector<std::string> keys = table.key;
      keys.insert(keys.end(), member.key.begin(), member.key.end());
      if (table.key.size() >= entry.keys.size() || !leads_to(keys, entry.keys)) continue;
      entry.line = lines.line_of(member.place.key);
      if (keys == entry.keys && text[member.place.value] == '{') {
        return locate_members(text, config::find_inline_members(text, member.place.value), entry);
      }
      const bool is_list = text[member.place.value] == '[';
      entry.refusal = is_list ? "it is in a list in brackets; write it as a table [[mcp_servers]]"
                              : "it is written with dotted keys or inside an inline table; write it as "
                                "[mcp_servers.NAME]";
      return;
    }
  }
}

}  // namespace

void locate_toml(const std::string& text, std::vector<EntryText>& entries) {
  const std::vector<TomlTable> tables = config::find_toml_tables(text);
  config::LineCounter lines(text);
  for (EntryText& entry : entries) {
    entry.refusal = "it is written in a form that corral does not edit; write it as [mcp_servers.NAME]";
    locate_in(text, tables, lines, entry);
  }
}

}  // namespace corral::adopt
