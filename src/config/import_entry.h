// Translates one server of a client's file into an entry of corral's configuration. Pure. The spellings of
// other clients are listed in import_entry.cc.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "config/credentials.h"

namespace corral::config {

struct EntryImport {
  boost::json::object entry;       // empty = left out
  std::vector<std::string> notes;  // each continues a sentence that begins with the name
  std::vector<PlainCredential> credentials;
};

/// Whether the entry has a command or a URL. One that only switches a server on or off, which is defined
/// elsewhere, has neither.
bool describes_server(const boost::json::object& entry);

/// `file_name` has no path. It identifies the two clients that write timeouts in seconds.
EntryImport import_entry(const boost::json::object& entry, const std::string& file_name);

}  // namespace corral::config
