// One server as a client writes it, turned into an entry as we write it.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

namespace corral::config {

struct EntryImport {
  boost::json::object entry;       // empty = left out
  std::vector<std::string> notes;  // what follows the name in a sentence
};

/// Whether it says how to reach a server at all; a bare switch for one that is defined elsewhere does not.
bool describes_server(const boost::json::object& entry);

/// `file_name` without its path: two clients count a timeout in seconds.
EntryImport import_entry(const boost::json::object& entry, const std::string& file_name);

}  // namespace corral::config
