// Accepts local clients. Who is not the same user is turned away before a byte of theirs is read.
#pragma once

#include <cstdint>
#include <memory>

#include "base/loop.h"
#include "base/unique_fd.h"
#include "transport/session_opener.h"

namespace corral::transport {

struct ListenerCounters {
  std::uint64_t accepted = 0;
  std::uint64_t strangers = 0;         // another user
  std::uint64_t too_many = 0;          // turned away at the limit
  std::uint64_t bad_hellos = 0;        // late, too long, or not understood
  std::uint64_t dropped_stderr = 0;    // bytes that a shim did not take in time
  std::uint64_t out_of_resources = 0;  // no descriptor for a connection, or for what it brought
};

class UnixListener {
 public:
  /// `socket` listens already. Connections live as long as they need, at most as long as this.
  UnixListener(Loop& loop, UniqueFd socket, SessionOpener& opener);
  ~UnixListener();

  /// No new ones; those who are here stay.
  void close();

  const ListenerCounters& counters() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace corral::transport
