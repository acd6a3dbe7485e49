// How many connections there may be at once, in all and from one peer. Pure; owned by the listener, on the
// loop's thread.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "http/message.h"

namespace corral::http {

class ConnectionQuota {
 public:
  /// `most` in all, of which a quarter is reserved for our own user, so that others cannot lock it out.
  /// `most_of_one` for our own user, for all others on this machine together, and for each other address;
  /// 0 = no such limit.
  ConnectionQuota(std::size_t most, std::size_t most_of_one) : most_(most), most_of_one_(most_of_one) {}

  /// True if no further connection is admitted, not even one of our own user.
  bool full() const { return taken_ >= most_; }
  /// Counts the connection of this peer, unless a limit is reached: then false.
  bool admit(const Peer& peer);
  /// The connection of a peer that was admitted is gone.
  void release(const Peer& peer);

 private:
  std::size_t most_;
  std::size_t most_of_one_;
  std::size_t taken_ = 0;
  std::size_t by_others_ = 0;
  std::map<std::string, std::size_t> by_one_;
};

}  // namespace corral::http
