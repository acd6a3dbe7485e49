// Finds the process that holds a socket, by a walk through /proc/*/fd. The walk runs on a separate thread,
// because it takes tens of milliseconds with many descriptors. A result is remembered as long as the process
// lives and holds the socket; this costs one descriptor per process. Must be used on the loop's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "base/loop.h"
#include "base/unique_fd.h"
#include "http/message.h"

namespace corral::transport {

/// A process during its lifetime; the pid alone may be reused later.
struct Owner {
  pid_t pid = 0;
  std::uint64_t identity = 0;  // unique for each process
  /// A pidfd; readable when the process has exited. It is shared, so a Watch needs its own copy.
  std::shared_ptr<const UniqueFd> life;
};

class OwnerFinder {
 public:
  explicit OwnerFinder(Loop& loop);
  ~OwnerFinder();
  OwnerFinder(const OwnerFinder&) = delete;

  using Found = std::function<void(std::optional<Owner>)>;
  /// Calls `found` on the loop, possibly before this returns; never after the finder is destroyed. Empty: the
  /// holder is unknown (gone, another user's, or several processes).
  void find(const http::Peer& peer, Found found);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace corral::transport
