// What the crosstalk test knows of every call: whose canary it carries, whether its client still wants it,
// and whether a server may ever see it. Collects the faults, and the last steps that led to them.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace corral::crosstalk {

/// A word that only one call of one session says: "canary-SESSION-CALL-".
struct Canary {
  int session = 0;  // 0 = there is none
  int call = 0;

  std::string text() const { return "canary-" + std::to_string(session) + "-" + std::to_string(call) + "-"; }
  bool operator==(const Canary&) const = default;
  bool operator<(const Canary& other) const {
    return std::pair(session, call) < std::pair(other.session, other.call);
  }
};

/// All canaries in a text, in the order in which they stand there.
inline std::vector<Canary> canaries_in(std::string_view text) {
  constexpr std::string_view kWord = "canary-";
  std::vector<Canary> found;
  const auto number = [&](std::size_t& at) {
    int value = 0;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at)
      value = value * 10 + (text[at] - '0');
    ++at;  // the dash
    return value;
  };
  for (std::size_t at = 0; (at = text.find(kWord, at)) != std::string_view::npos;) {
    at += kWord.size();
    Canary canary;
    canary.session = number(at);
    canary.call = number(at);
    found.push_back(canary);
  }
  return found;
}

class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  /// From 0 to `bound` - 1.
  std::size_t below(std::size_t bound) { return engine_() % bound; }
  bool chance(std::size_t percent) { return below(100) < percent; }
  template <class List>
  auto& one_of(List& list) {
    return list[below(std::size(list))];
  }

 private:
  std::mt19937 engine_;
};

/// How often something happened that the test is about: one that never does proves nothing.
struct Deeds {
  std::size_t sessions = 0;
  std::size_t calls = 0;
  std::size_t answers = 0;
  std::size_t cancelled = 0;
  std::size_t cancelled_unsent = 0;  // before a server could see the call
  std::size_t log_lines = 0;         // that reached somebody
  std::size_t progress = 0;          // likewise
  std::size_t questions = 0;         // likewise
  std::size_t refused_questions = 0;
  std::size_t list_changes = 0;         // that reached somebody
  std::size_t late_words = 0;           // of servers, about calls that were given up
  std::size_t words_after_answers = 0;  // of servers, about calls that they had just answered
  std::size_t crowds = 0;               // programs that nobody can tell apart, at a private server
  std::size_t instances = 0;
  std::size_t crashes = 0;
  std::size_t greeted_early = 0;  // sessions that had no process when they were greeted
  std::size_t same_address = 0;   // sessions where an earlier one was
};

class Ledger {
 public:
  explicit Ledger(Deeds& counted) : deeds(counted) {}

  int next_session() { return ++last_session_; }

  /// No server has seen this call, and its client has taken it back: none may see it from now on.
  void never(const Canary& canary) {
    never_.insert(canary);
    ++deeds.cancelled_unsent;
  }
  bool seen_by_a_server(const Canary& canary) const { return seen_.contains(canary); }
  void reached_server(const Canary& canary, const std::string& where) {
    seen_.insert(canary);
    if (never_.contains(canary)) {
      fault(canary.text() + " was cancelled before it was sent, and reached " + where + " all the same");
    }
  }

  /// Which sessions an instance may hear: those of one scope (server, principal, root).
  void enter(int session, std::string scope) { scopes_[session] = std::move(scope); }
  const std::string& scope_of(int session) { return scopes_[session]; }

  void note(std::string what) {
    trace_.push_back(std::move(what));
    if (trace_.size() > kKeptSteps) trace_.pop_front();
  }
  void fault(std::string what) {
    note("FAULT: " + what);
    faults_.push_back(std::move(what));
  }
  const std::vector<std::string>& faults() const { return faults_; }
  std::string trace() const {
    std::string text;
    for (const std::string& line : trace_) text += line.substr(0, kLongestLine) + "\n";
    return text;
  }

  Deeds& deeds;

 private:
  static constexpr std::size_t kKeptSteps = 400;
  static constexpr std::size_t kLongestLine = 400;

  int last_session_ = 0;
  std::set<Canary> never_;
  std::set<Canary> seen_;
  std::map<int, std::string> scopes_;
  std::vector<std::string> faults_;
  std::deque<std::string> trace_;
};

}  // namespace corral::crosstalk
