// What the parts of the bridge for a legacy client share: the client, and the words to either side.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/shares.h"
#include "bridge/bridge.h"

namespace corral::bridge {

struct LegacySide {
  Outlet& outlet;
  std::string server;               // its name, for messages
  std::string_view version;         // of the client
  std::string capabilities;         // of the client, in modern words. JSON
  std::string meta;                 // of every request to the server, without braces
  std::size_t most_listens = 1024;  // for single URIs, at the same time
  Account* account = nullptr;       // whose what is kept is; null = nobody's
  IdSource<UpId> ids{};             // of a request to the server; none is given twice

  UpId next_id() { return ids.next(); }
  /// `id` is the JSON text of the client's.
  void answer(std::string_view id, std::string_view result) const;
  void refuse(std::string_view id, int code, std::string_view sentence) const;
};

}  // namespace corral::bridge
