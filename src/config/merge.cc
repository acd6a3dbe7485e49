#include "config/merge.h"

#include <algorithm>
#include <boost/json.hpp>

#include "config/configuration.h"
#include "config/server_tables.h"
#include "config/text_edits.h"
#include "known/config_text.h"

namespace corral::config {
namespace {

namespace json = boost::json;

/// The line ends and the indentation at one place of the file.
struct Layout {
  std::string newline = "\n";
  std::string indent;  // of the line
};

// NOLINTNEXTLINE(misc-no-recursion): the parser has limited the depth of the value
std::string render(const json::value& value, const Layout& layout) {
  std::string text;
  if (const json::array* list = value.if_array()) {
    for (const json::value& element : *list) text += (text.empty() ? "" : ", ") + render(element, layout);
    return "[" + text + "]";
  }
  const json::object* object = value.if_object();
  if (object == nullptr) return json::serialize(value);
  if (object->empty()) return "{}";
  const Layout inner{layout.newline, layout.indent + "  "};
  for (const auto& [key, member] : *object) {
    text += (text.empty() ? "" : ",") + inner.newline + inner.indent;
    text += json::serialize(json::string(key)) + ": " + render(member, inner);
  }
  return "{" + text + layout.newline + layout.indent + "}";
}

using Members = std::vector<std::pair<std::string, json::value>>;

/// Adds members after the last one of an object. A comment that follows that one stays where it is.
void append(const std::string& text, const ObjectPlace& place, const Members& members,
            std::vector<Edit>& edits) {
  if (members.empty()) return;
  const std::string newline = newline_of(text);
  const std::string outer = indent_of(text, place.close);
  const bool has_example = place.count > 0 && begins_its_line(text, place.last.key);
  const Layout layout{newline, has_example ? indent_of(text, place.last.key) : outer + "  "};
  if (place.count > 0 && !place.trailing_comma) edits.push_back({place.last.end, place.last.end, ","});
  std::string lines;
  for (const auto& [key, value] : members) {
    lines += (lines.empty() ? "" : "," + newline) + layout.indent + json::serialize(json::string(key)) +
             ": " + render(value, layout);
  }
  if (begins_its_line(text, place.close)) {
    const std::size_t start = line_start(text, place.close);
    edits.push_back({start, start, lines + newline});
  } else {
    edits.push_back({place.close, place.close, newline + lines + newline + outer});
  }
}

/// Keeps the `corral` options of an entry that is replaced. Options of the new entry take precedence.
json::object with_old_options(json::object entry, const std::string& old_entry) {
  const known::ConfigText old = known::parse_json_config(old_entry);
  const json::object* object = old.value.if_object();
  const json::value* options = object == nullptr ? nullptr : object->if_contains("corral");
  if (options == nullptr || !options->is_object()) return entry;
  json::object kept = options->get_object();
  if (const json::value* given = entry.if_contains("corral"); given != nullptr && given->is_object()) {
    for (const auto& [key, option] : given->get_object()) kept[key] = option;
  }
  entry["corral"] = std::move(kept);
  return entry;
}

/// Verifies the result before it replaces the user's file: it must be valid and contain every server.
Result<void> check(const Merge& merge, const std::string& file, const std::vector<NewServer>& servers) {
  const Result<Configuration> after = parse(merge.text, file);
  if (!after)
    return Error{"the changed file would be invalid, so it was left alone: " + after.error().message};
  for (const NewServer& server : servers) {
    if (after->find(server.name) != nullptr) continue;
    if (std::find(merge.kept.begin(), merge.kept.end(), server.name) != merge.kept.end()) continue;
    return Error{"'" + server.name + "' could not be added to '" + file +
                 "', so it was left alone. Add it by hand."};
  }
  return {};
}

}  // namespace

Result<Merge> merge_servers(const std::string& text, const std::string& file,
                            const std::vector<NewServer>& servers, Existing existing) {
  const bool blank = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF") == std::string::npos;
  Merge merge;
  merge.text = blank ? "{}\n" : text;
  const Result<Configuration> before = parse(merge.text, file);
  if (!before) return before.error();

  const std::string& old = merge.text;
  const ServerTables tables = find_tables(old);
  std::vector<Edit> edits;
  Members added;
  for (const NewServer& server : servers) {
    const auto entry = tables.entries.find(server.name);
    if (entry == tables.entries.end()) {
      added.emplace_back(server.name, server.entry);
      merge.added.push_back(server.name);
    } else if (existing == Existing::Keep) {
      merge.kept.push_back(server.name);
    } else {
      const auto& [key, begin, end] = entry->second.member;
      const json::object value = with_old_options(server.entry, old.substr(begin, end - begin));
      edits.push_back({begin, end, render(value, {newline_of(old), indent_of(old, key)})});
      merge.replaced.push_back(server.name);
    }
  }
  if (tables.target) {
    append(old, *tables.target, added, edits);
  } else if (!added.empty()) {
    json::object table;
    for (auto& [name, value] : added) table[name] = std::move(value);
    append(old, tables.root, {{"mcpServers", std::move(table)}}, edits);
  }
  merge.text = applied(old, std::move(edits));
  const Result<void> good = check(merge, file, servers);
  if (!good) return good.error();
  return merge;
}

}  // namespace corral::config
