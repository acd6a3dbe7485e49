// Adds servers to the text of a configuration and preserves every other byte: comments, order and white space
// are the user's. Pure.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "base/result.h"

namespace corral::config {

struct NewServer {
  std::string name;
  boost::json::object entry;  // of `mcpServers`, in corral's format
};

enum class Existing { Keep, Replace };

struct Merge {
  std::string text;
  std::vector<std::string> added;
  std::vector<std::string> replaced;  // keep their `corral` options unless the new entry sets them
  std::vector<std::string> kept;      // existed already and were not replaced
};

/// `file` is for messages. An error if the text is not a valid configuration before or after the change.
Result<Merge> merge_servers(const std::string& text, const std::string& file,
                            const std::vector<NewServer>& servers, Existing existing);

}  // namespace corral::config
