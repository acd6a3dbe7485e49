// Copies bytes between a descriptor that the daemon cannot poll and a pipe that it can.
#pragma once

#include <poll.h>

#include <cstddef>
#include <string>

#include "base/unique_fd.h"

namespace corral::shim {

class Copier {
 public:
  Copier() = default;
  /// Takes both descriptors. Neither may block when it polls ready. `to` is closed at the end of `from`.
  Copier(UniqueFd from, UniqueFd to) : from_(std::move(from)), to_(std::move(to)) {}

  /// What to poll for; a descriptor of -1 means that nothing is left to do.
  pollfd wanted() const;
  /// Call when the descriptor is ready. Copies one piece.
  void advance();
  bool done() const { return !to_.valid(); }

 private:
  void finish();

  UniqueFd from_;
  UniqueFd to_;
  std::string buffer_;
};

}  // namespace corral::shim
