// Puts servers into the text of a configuration and leaves every other byte of it as it is: comments, order
// and blanks are the user's.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "base/result.h"

namespace corral::config {

struct NewServer {
  std::string name;
  boost::json::object entry;  // of `mcpServers`, as we would read it
};

enum class Existing { Keep, Replace };

struct Merge {
  std::string text;
  std::vector<std::string> added;
  std::vector<std::string> replaced;  // their `corral` options were kept, but for those given
  std::vector<std::string> kept;      // were there already
};

/// `file` is for messages. An error if the text is no configuration before or afterwards.
Result<Merge> merge_servers(const std::string& text, const std::string& file,
                            const std::vector<NewServer>& servers, Existing existing);

}  // namespace corral::config
