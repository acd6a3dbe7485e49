// Accepts local clients. Clients of another user are rejected before any byte is read. Must be used on the
// loop's thread.
#pragma once

#include <cstdint>
#include <memory>

#include "base/loop.h"
#include "base/unique_fd.h"
#include "transport/session_opener.h"

namespace corral::transport {

struct ListenerCounters {
  std::uint64_t accepted = 0;
  std::uint64_t strangers = 0;       // rejected: another user
  std::uint64_t too_many = 0;        // rejected at the limit
  std::uint64_t bad_hellos = 0;      // late, too long, or invalid
  std::uint64_t dropped_stderr = 0;  // bytes that a shim did not read in time
  std::uint64_t out_of_resources =
      0;  // no descriptor for a connection, or for the descriptors that it brought
};

class UnixListener {
 public:
  /// `socket` is already listening. Connections may live as long as the listener. `loop` and `opener` must
  /// outlive it.
  UnixListener(Loop& loop, UniqueFd socket, SessionOpener& opener);
  ~UnixListener();

  /// Accepts no new connections; existing ones stay.
  void close();

  const ListenerCounters& counters() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace corral::transport
