// The thread that walks through /proc for sockets. Sockets that are requested during a walk are collected and
// found by the next one together.
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
  /// `walked` is called on the thread, with the requested inodes and the holders that were found.
  using Walked = std::function<void(std::vector<std::uint64_t>, Holders)>;
  explicit SocketWalker(Walked walked) : walked_(std::move(walked)) {}
  ~SocketWalker();  // `walked` is not called after this returns
  SocketWalker(const SocketWalker&) = delete;

  /// Starts the thread if necessary. False if it cannot be started. Call on the loop's thread.
  bool look_for(std::uint64_t inode);

 private:
  bool start();
  void run();

  Walked walked_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::uint64_t> wanted_;
  std::atomic<bool> stopped_ = false;  // ends a walk early when its result is no longer needed
  std::thread thread_;
};

}  // namespace corral::transport
