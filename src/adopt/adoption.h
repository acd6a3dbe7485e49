// Changes one file of a client: puts corral in front of the servers that the user has agreed to, or takes it
// away again. For both the order is: lock the ledger, lock and read the file, make the new text, check it
// with a parser, keep a copy, write the change down, replace the file, write down that it is done. A file
// that another program changes in between is read again, at most five times.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "adopt/client_file.h"
#include "adopt/ledger.h"

namespace corral::adopt {

/// A server that the user has seen and agreed to.
struct AgreedServer {
  std::vector<std::string> keys;
  std::string hash;
};

struct Adopting {
  ClientFile file;
  std::vector<AgreedServer> servers;
  Through through = Through::Connect;
  std::string program;
};

/// Where to write things down, and when it is. `before_commit` is for tests: what another program does in
/// that moment.
struct Desk {
  std::string state_directory;
  std::int64_t unix_ms = 0;
  std::function<void()> before_commit = {};
};

struct FileOutcome {
  using Named = std::pair<std::string, std::string>;  // the server, and a clause about it

  std::vector<std::string> changed;  // names of servers
  std::vector<Named> dropped;        // released without a change: nothing of corral's was left
  std::vector<Named> refused;        // left as they are
  std::string copy;                  // of the old text; empty if nothing was changed
  std::string error;                 // why the whole file was left alone, as a sentence
};

FileOutcome adopt_file(const Adopting& adopting, const Desk& desk);

/// Whether what was released stays written down, because a running client may put it back. A later release
/// finds it then.
enum class Released : std::uint8_t { Forgotten, Remembered };

/// Releases all servers of this file that were adopted for one of these clients; empty = for any.
FileOutcome release_file(const std::string& path, const std::vector<std::string>& clients, const Desk& desk,
                         Released released = Released::Forgotten);

}  // namespace corral::adopt
