// What we know of a server without running it. Learned from instances, kept while the daemon runs.
#pragma once

#include <cstdint>
#include <optional>

namespace corral::server {

/// How a server is spoken to. One process speaks one era.
enum class Era : std::uint8_t { Legacy, Modern };  // initialize … 2025-11-25; stateless, 2026-07-28

struct Manifest {
  std::optional<bool> modern;     // it answered server/discover as the modern revision says
  std::optional<bool> read_only;  // every tool says so in its annotations
  bool conversational = false;    // it asked a client something on a shared instance
  bool answers_probes = false;    // it has answered when asked whether it lives
};

}  // namespace corral::server
