// Decides from evidence whether sessions may share an instance of a server, and gives the reason. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "config/configuration.h"
#include "knowledge/known_servers.h"
#include "knowledge/manifest.h"

namespace corral::knowledge {

/// Whether an instance has several sessions or one.
enum class Sharing : std::uint8_t { Private, Shared };
inline Sharing sharing_of(bool shared) { return shared ? Sharing::Shared : Sharing::Private; }

/// "shared: WHY" or "private: WHY".
std::string reason_for(Sharing sharing, std::string_view why);
/// WHY alone; everything if the reason begins with neither word.
std::string_view why_alone(std::string_view reason);

struct SharingFacts {
  std::string server;  // the name, or the command's base name, for the hint
  config::Share wanted = config::Share::Auto;
  std::string root;                 // share = root
  bool from_configuration = false;  // there is an entry that can be edited
  bool stateless_by_configuration = false;
  const knowledge::KnownServer* known = nullptr;
  knowledge::Conduct shown;
  knowledge::Era era = knowledge::Era::Legacy;
};

struct SharingDecision {
  bool shared = false;
  /// The annotations were seen with another profile, so they are only a hint: the shared instance must show
  /// the same before a second session attaches.
  bool confirm_annotations = false;
  /// The server is shared because an earlier instance was modern: this one must be modern too.
  bool confirm_modern = false;
  std::string reason;  // "private: tool annotations are unknown until the first session has listed them"
  std::string hint;    // what to type or write to share it; empty = nothing to do
};

SharingDecision decide_sharing(const SharingFacts& facts);

/// Whether there is evidence that the server loses nothing when its process ends between two calls.
bool keeps_no_state(const SharingFacts& facts);

}  // namespace corral::knowledge
