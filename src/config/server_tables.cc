#include "config/server_tables.h"

namespace corral::config {
namespace {

ObjectPlace read_table(const std::string& text, std::size_t table, ServerTables& tables) {
  std::size_t before = table + 1;
  return walk_object(text, table, [&](const std::string& name, const MemberPlace& member) {
    tables.entries.emplace(name, EntryPlace{member, before});
    before = skip_blanks(text, member.end) + 1;  // after the comma; unused if this is the last member
    return true;
  });
}

}  // namespace

ServerTables find_tables(const std::string& text) {
  ServerTables tables;
  tables.root =
      walk_object(text, skip_blanks(text, 0), [&](const std::string& key, const MemberPlace& place) {
        if (key != "mcpServers" && key != "servers") return true;
        const ObjectPlace table = read_table(text, place.value, tables);
        if (key == "mcpServers" || !tables.target) tables.target = table;
        return true;
      });
  return tables;
}

}  // namespace corral::config
