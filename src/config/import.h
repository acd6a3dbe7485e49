// Takes the servers out of the configuration of any client that we know, in the form of our own. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "config/merge.h"

namespace corral::config {

struct Import {
  std::vector<NewServer> servers;
  std::vector<std::string> notes;  // what was left out or changed, and why; no values
};

/// JSON or TOML, by the name of the file and else by its beginning. An error if it is neither, or if it has
/// no place for servers that we know.
Result<Import> import_servers(const std::string& text, const std::string& file);

}  // namespace corral::config
