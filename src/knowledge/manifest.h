// What is known about a server without running it, learned from its instances. Values.
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

/// The lists of a server. A client that has seen one list is told if a later instance shows another.
enum class ListKind : std::uint8_t { Tools, Prompts, Resources, Templates };
inline constexpr std::size_t kListKinds = 4;

/// What a server showed to clients of one profile.
struct Portrait {
  std::string handshake;                      // the result of initialize or server/discover, JSON
  std::array<std::string, kListKinds> lists;  // whole results of the list requests, JSON; empty = not known

  bool operator==(const Portrait&) const = default;
};

/// The part of a manifest that decides whether a server is shared. It is copied for each decision, so it must
/// stay small; the lists of a server may have megabytes.
struct Conduct {
  std::optional<bool> modern;     // its era
  std::optional<bool> read_only;  // every tool says so in its annotations
  bool conversational = false;    // it sent a request to a client on a shared instance

  bool operator==(const Conduct&) const = default;
};

struct Manifest : Conduct {
  bool answers_probes = false;                             // it has answered a probe
  Fingerprint fingerprint;                                 // of the build that the manifest describes
  std::map<std::string, Portrait, std::less<>> portraits;  // by profile

  bool operator==(const Manifest&) const = default;
};

}  // namespace corral::knowledge
