// The accept loop that every listening socket needs: takes connections a few at a time, so that a flood of
// them does not keep others waiting, and backs off when descriptors or memory run out. Owned by the listener,
// on the loop's thread. What a connection is for, and whether it may stay, is for the owner to decide.
#pragma once

#include <functional>
#include <memory>

#include "base/lifetime.h"
#include "base/loop.h"
#include "base/unique_fd.h"

namespace corral {

class Acceptor {
 public:
  /// Gets each new connection, non-blocking and closed on exec. May close or destroy the acceptor.
  using Accepted = std::function<void(UniqueFd)>;
  /// Told each time that the kernel had no descriptor or no memory for a connection, before the pause.
  using OutOfResources = std::function<void()>;

  /// `socket` listens already, TCP or Unix. Nothing is accepted before the next turn of the loop.
  Acceptor(Loop& loop, UniqueFd socket, Accepted accepted, OutOfResources out_of_resources = nullptr);
  Acceptor(const Acceptor&) = delete;

  /// -1 after `close`.
  int socket() const { return socket_.get(); }
  /// Accepts nothing any more and closes the socket.
  void close();

 private:
  void wait();
  void accept_some();
  void back_off();

  UniqueFd socket_;
  std::unique_ptr<Watch> watch_;
  Timer pause_;
  Accepted accepted_;
  OutOfResources out_of_resources_;
  Lifetime lifetime_;
};

}  // namespace corral
