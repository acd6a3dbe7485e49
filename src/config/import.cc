#include "config/import.h"

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "base/files.h"
#include "base/text.h"
#include "config/configuration.h"
#include "config/entry.h"
#include "config/file.h"
#include "config/import_entry.h"
#include "config/reading.h"
#include "known/config_text.h"
#include "known/known_programs.h"

namespace corral::config {
namespace {

namespace json = boost::json;

known::ConfigFormat format_of(const std::string& text, const std::string& file) {
  if (file.ends_with(".toml")) return known::ConfigFormat::Toml;
  if (file.ends_with(".json") || file.ends_with(".jsonc")) return known::ConfigFormat::Json;
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  const bool json = first == std::string::npos || text[first] == '{' || text[first] == '/';
  return json ? known::ConfigFormat::Json : known::ConfigFormat::Toml;
}

/// The places in which clients keep their servers, as paths of keys. A '*' matches any project.
std::set<std::string_view> known_tables(known::ConfigFormat format) {
  std::set<std::string_view> tables;
  for (const known::KnownClient& client : known::known_clients()) {
    for (const known::ConfigFile& place : client.configs) {
      if (place.format == format) tables.insert(place.servers);
    }
  }
  return tables;
}

/// The object at a path of keys without '*'; null if there is none.
const json::object* table_at(const json::value& root, std::string_view keys) {
  const json::value* value = &root;
  while (value != nullptr && value->is_object() && !keys.empty()) {
    const std::size_t slash = std::min(keys.find('/'), keys.size());
    value = value->get_object().if_contains(keys.substr(0, slash));
    keys.remove_prefix(std::min(slash + 1, keys.size()));
  }
  return value == nullptr ? nullptr : value->if_object();
}

class Importing {
 public:
  Importing(const json::value& root, const std::string& file) : root_(root), file_(file) {}

  Result<Import> from(const std::set<std::string_view>& tables) {
    bool any = false;
    for (const std::string_view keys : tables) {
      if (keys.find('*') != std::string_view::npos) {
        count_projects(keys);
        continue;
      }
      const json::object* table = table_at(root_, keys);
      if (table == nullptr) continue;
      any = true;
      for (const auto& [name, entry] : *table) add(std::string(name), entry);
    }
    if (!any) {
      return Error{"'" + file_ +
                   "' has no servers in a place that corral knows. Look for \"mcpServers\", \"servers\" "
                   "or [mcp_servers.NAME] in it, or name another file."};
    }
    return std::move(result_);
  }

 private:
  void add(const std::string& name, const json::value& entry) {
    // One client has its servers in `mcp`, another one in `mcp/servers`. In the file of the latter, `servers`
    // would look like a server of `mcp`, but it has neither a command nor a URL.
    if (!entry.is_object() || !describes_server(entry.get_object())) return;
    const std::string shown = printable(name.substr(0, 200));
    if (const std::string objection = objection_to_name(name); !objection.empty()) {
      return result_.notes.push_back({"'" + shown + "' is left out: " + objection});
    }
    if (!names_.insert(name).second) {
      return result_.notes.push_back({"'" + shown + "' occurs more than once; the first one is used"});
    }
    EntryImport imported = import_entry(entry.get_object(), base_name(file_));
    const std::string subject = "'" + shown + "' ";
    for (const std::string& note : imported.notes) {
      result_.notes.push_back({subject + note, imported.entry.empty() ? "" : name});
    }
    for (PlainCredential& one : imported.credentials) result_.credentials.emplace_back(name, std::move(one));
    if (imported.entry.empty()) return;
    // Checks that corral can read the new entry, so that an invalid one does not prevent the import of
    // others.
    const json::value alone = {{"mcpServers", {{name, imported.entry}}}};
    const Result<Configuration> read_again = parse(json::serialize(alone), file_);
    if (!read_again) {
      return result_.notes.push_back(
          {"'" + shown + "' is left out: " + reason_of(read_again.error().message)});
    }
    result_.servers.push_back({name, std::move(imported.entry)});
  }

  /// Without FILE:LINE:COLUMN, because the user has never seen the text that it refers to.
  std::string reason_of(const std::string& message) const {
    const std::size_t place = message.find(": ", std::min(file_.size(), message.size()));
    return place == std::string::npos ? message : message.substr(place + 2);
  }

  /// Servers of single projects are only counted: they run in the directory of their project, and their names
  /// may conflict with those of other projects.
  void count_projects(std::string_view keys) {
    const std::string_view above = keys.substr(0, keys.find("/*"));
    const std::string_view below = keys.substr(std::min(keys.find("*/") + 2, keys.size()));
    const json::object* projects = table_at(root_, above);
    std::size_t count = 0;
    if (projects == nullptr) return;
    for (const auto& [name, project] : *projects) {
      const json::object* table = table_at(project, below);
      count += table == nullptr ? 0 : table->size();
    }
    if (count == 0) return;
    result_.notes.push_back(
        {counted(count, "server") +
         " of single projects left out: by hand, add those that all your projects may use"});
  }

  const json::value& root_;
  const std::string& file_;
  std::set<std::string, std::less<>> names_;
  Import result_;
};

}  // namespace

Result<Import> import_servers(const std::string& text, const std::string& file) {
  if (text.size() > kLargestFile) return Error{"'" + file + "' is larger than 64 MiB. Name another file."};
  const known::ConfigFormat format = format_of(text, file);
  const known::ConfigText parsed = known::parse_config(text, format);
  if (!parsed.error.empty()) return parse_error(file, parsed.error);
  return Importing(parsed.value, file).from(known_tables(format));
}

}  // namespace corral::config
