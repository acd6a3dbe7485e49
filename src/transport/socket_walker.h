// The one thread beside the loop: walks through /proc for sockets. It takes every socket that is asked for
// meanwhile, and finds them all by one walk.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "transport/socket_holders.h"

namespace corral::transport {

class SocketWalker {
 public:
  /// `walked` is called on the thread, with what was looked for and what was found of it.
  using Walked = std::function<void(std::vector<std::uint64_t>, Holders)>;
  explicit SocketWalker(Walked walked) : walked_(std::move(walked)) {}
  ~SocketWalker();  // `walked` is not called any more once this returns
  SocketWalker(const SocketWalker&) = delete;

  /// Starts the thread if there is none. False if there can be none.
  bool look_for(std::uint64_t inode);

 private:
  bool start();
  void run();

  Walked walked_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::uint64_t> wanted_;
  std::atomic<bool> stopped_ = false;  // a walk that nobody waits for any more ends early
  std::thread thread_;
};

}  // namespace corral::transport
