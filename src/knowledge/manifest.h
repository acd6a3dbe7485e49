// What we know of a server without running it, learned from its instances.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "knowledge/fingerprint.h"
#include "wire/revisions.h"

namespace corral::knowledge {

using wire::Era;

/// What a server lists; a client that has seen one list must hear if a later instance shows another.
enum class ListKind : std::uint8_t { Tools, Prompts, Resources, Templates };
inline constexpr std::size_t kListKinds = 4;

/// What a server showed to clients that say the same of themselves.
struct Portrait {
  std::string handshake;                      // the result of initialize or server/discover, JSON
  std::array<std::string, kListKinds> lists;  // whole results of the list requests, JSON; empty = not known

  bool operator==(const Portrait&) const = default;
};

/// What of it decides whether a server is shared. Small: it is copied for each decision, and the lists of a
/// server may have megabytes.
struct Conduct {
  std::optional<bool> modern;     // its era
  std::optional<bool> read_only;  // every tool says so in its annotations
  bool conversational = false;    // it asked a client something on a shared instance

  bool operator==(const Conduct&) const = default;
};

struct Manifest : Conduct {
  bool answers_probes = false;                             // it has answered when asked whether it lives
  Fingerprint fingerprint;                                 // of the build that all this is about
  std::map<std::string, Portrait, std::less<>> portraits;  // by profile

  bool operator==(const Manifest&) const = default;
};

}  // namespace corral::knowledge
