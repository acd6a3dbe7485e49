// Where the servers stand in the text of a configuration, also those that are not for us. Pure.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "config/text_places.h"

namespace corral::config {

struct EntryPlace {
  MemberPlace member;
  std::size_t before = 0;  // behind the brace or comma in front of it
};

struct ServerTables {
  std::optional<ObjectPlace> target;  // `mcpServers` if there is one, else `servers`
  std::map<std::string, EntryPlace, std::less<>> entries;
  ObjectPlace root;
};

/// Of a text that has been parsed without an error.
ServerTables find_tables(const std::string& text);

}  // namespace corral::config
