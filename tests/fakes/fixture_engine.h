// The fixture server at work: it reads lines, keeps its open calls and plays what comes of them, in the words
// of one era. One thread; nothing in it blocks, so calls run beside each other and can be cancelled.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "fixture_offer.h"

namespace corral::fakes {

enum class Probe { Answer, Silence, Exit };

struct FixtureOptions {
  World world;
  Probe probe = Probe::Answer;  // what a legacy server does when it is asked server/discover
};

class FixtureEngine {
 public:
  explicit FixtureEngine(const FixtureOptions& options) : probe_(options.probe), world_(options.world) {}

  /// Until the end of the input.
  void serve();

 private:
  using Clock = std::chrono::steady_clock;

  /// tools/call, prompts/get or resources/read.
  struct Call {
    std::string id;
    std::string method;
    std::string params;
    std::string capabilities;
    std::string log_level;  // what the client wants to hear; empty = nothing
    std::string state;
    std::string answers;                      // members, of the questions answered so far
    std::map<std::string, std::string> open;  // questions that wait: our id, key
  };

  /// What a modern client listens to.
  struct Listen {
    std::set<std::string> kinds;  // toolsListChanged and so on
    std::set<std::string> uris;
  };

  void take(const std::string& line);
  void take_notification(std::string_view method, std::string_view params);
  void take_request(const std::string& id, std::string_view method, std::string_view params);
  bool take_legacy(const std::string& id, std::string_view method, std::string_view params);
  bool take_modern(const std::string& id, std::string_view method, std::string_view params);
  void take_common(const std::string& id, std::string_view method, std::string_view params);

  void initialize(const std::string& id, std::string_view params);
  bool valid_meta(const std::string& id, std::string_view params);
  void listen(const std::string& id, std::string_view params);

  void begin(const std::string& id, std::string_view method, std::string_view params);
  void run(const std::string& id);
  void ask(Call& call, const Outcome& outcome);
  void require_input(const Call& call, const Outcome& outcome);
  void refuse(const Call& call, std::string_view capability);
  void take_answer(const std::string& id, std::string_view line);
  void play(const std::string& id, const Outcome& outcome);
  void happen(const Call& call, const Event& event);
  void tell(std::string_view kind, std::string_view method, const std::string& members,
            std::string_view uri = {});
  void cancel(const std::string& id);

  void reply(const std::string& id, std::string_view method, std::string_view result);
  void fail(const std::string& id, const Outcome& outcome);

  void after(long ms, std::function<void()> action);
  int next_timeout() const;
  void run_timers();

  Probe probe_;
  World world_;
  bool initialized_ = false;  // legacy: by the client
  std::string capabilities_;  // legacy: of the client
  std::string log_level_ = "info";
  std::set<std::string> subscribed_;
  std::map<std::string, Listen> listens_;    // by id
  std::map<std::string, Call> calls_;        // by id
  std::map<std::string, std::string> asks_;  // our id -> id of the call
  long last_ask_ = 0;
  std::multimap<Clock::time_point, std::function<void()>> timers_;
};

/// One line to stdout.
void say(const std::string& line);

}  // namespace corral::fakes
