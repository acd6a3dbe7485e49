// How many may be here at once, and from where. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "http/message.h"

namespace corral::http {

class Places {
 public:
  /// `most` in all, of which a quarter is only for our own user: others cannot lock it out. `most_of_one` for
  /// our own user, for all others on this machine together, and for each other address; 0 = no such limit.
  Places(std::size_t most, std::size_t most_of_one) : most_(most), most_of_one_(most_of_one) {}

  /// Nobody gets in, whoever it is.
  bool full() const { return taken_ >= most_; }
  /// Whether there was a place, which is taken then.
  bool enter(const Peer& peer);
  void leave(const Peer& peer);

 private:
  std::size_t most_;
  std::size_t most_of_one_;
  std::size_t taken_ = 0;
  std::size_t by_others_ = 0;
  std::map<std::string, std::size_t> by_one_;
};

}  // namespace corral::http
