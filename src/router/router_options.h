// What a router must know about its server, and what it counts. Values only, so that the parts of the router
// can use them without the router.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/loop.h"

namespace corral::router {

struct RouterOptions {
  std::string server;                                   // its name, for messages
  bool shared = false;                                  // several sessions may attach
  bool confirm_read_only = false;                       // open it only if its tools are read-only
  bool confirm_modern = false;                          // open it only if it is modern
  std::function<bool(std::string_view)> allows_tool{};  // empty = all tools are allowed
  Clock::duration call_timeout = std::chrono::hours(1);
  Clock::duration probe{};       // the silence after which the server is probed; zero = never
  bool answers_probes = false;   // an earlier instance answered one
  std::string min_version = {};  // an older server is refused; empty = no version is
};

struct RouterCounters {
  std::uint64_t calls = 0;
  std::uint64_t answers = 0;
  std::uint64_t unknown_answers = 0;    // to an id that no call or question has
  std::uint64_t late_answers = 0;       // to a call that was cancelled
  std::uint64_t dropped_news = 0;       // notifications that belong to no session, or whose client is slow
  std::uint64_t dropped_log_lines = 0;  // that more than one session, or none, can have caused
  std::uint64_t kept_error_bytes = 0;   // of stderr, for the same reason: they are only in the server's log
  std::uint64_t misleading = 0;         // messages that a server might read differently than corral does
  std::uint64_t refused_questions = 0;
  std::uint64_t dropped_replies = 0;  // to a server that asks and does not read
  std::uint64_t timeouts = 0;
  std::uint64_t lost_answers = 0;  // too large, or not a message
  std::uint64_t missed_probes = 0;
};

}  // namespace corral::router
