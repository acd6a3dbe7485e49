// Finds the entries of all servers, including remote ones, in the text of a configuration. Pure.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "config/text_places.h"

namespace corral::config {

struct EntryPlace {
  MemberPlace member;
  std::size_t before = 0;  // just after the brace or comma that precedes it
};

struct ServerTables {
  std::optional<ObjectPlace> target;  // `mcpServers` if there is one, else `servers`
  std::map<std::string, EntryPlace, std::less<>> entries;
  ObjectPlace root;
};

/// `text` must be a configuration that parse() accepts.
ServerTables find_tables(const std::string& text);

}  // namespace corral::config
