// Which process holds a socket: a walk through /proc/*/fd, on a thread of its own, because it takes some tens
// of milliseconds where there are many descriptors. What was found is remembered for as long as that
// process lives and holds the socket; one descriptor for each such process.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "base/loop.h"
#include "base/unique_fd.h"
#include "http/message.h"

namespace corral::transport {

/// A process, for as long as it lives: the pid alone may be somebody else's tomorrow.
struct Owner {
  pid_t pid = 0;
  std::uint64_t identity = 0;            // the same for the same process only
  std::shared_ptr<const UniqueFd> life;  // a pidfd; readable when it is over. Others have it too: a Watch
                                         // needs a copy of its own
};

class OwnerFinder {
 public:
  explicit OwnerFinder(Loop& loop);
  ~OwnerFinder();
  OwnerFinder(const OwnerFinder&) = delete;

  using Found = std::function<void(std::optional<Owner>)>;
  /// Calls on the loop, perhaps before this returns; not after the finder is gone. Nothing: it cannot be
  /// told (gone, of another user, or held by several processes).
  void find(const http::Peer& peer, Found found);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace corral::transport
