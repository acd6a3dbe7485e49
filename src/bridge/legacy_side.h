// State shared by the parts of the bridge for a legacy client: the client, and how to send to either side.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/shares.h"
#include "bridge/bridge.h"

namespace corral::bridge {

struct LegacySide {
  Outlet& outlet;
  std::string server;               // name for messages
  std::string_view version;         // of the client
  std::string capabilities;         // of the client, in the modern form, JSON
  std::string meta;                 // for every request to the server, without braces
  std::size_t most_listens = 1024;  // for single URIs, at the same time
  Account* account = nullptr;       // charged for what is kept; null = not charged
  IdSource<UpId> ids{};             // of requests to the server; never reused

  UpId next_id() { return ids.next(); }
  /// `id` is the JSON text of the client's id.
  void answer(std::string_view id, std::string_view result) const;
  void refuse(std::string_view id, int code, std::string_view sentence) const;
};

}  // namespace corral::bridge
