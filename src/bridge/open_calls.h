// The calls of one modern client that a legacy server has not finished: those whose client waits for the
// answer, and suspended ones, for which the server waits for the client's input. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/loop.h"
#include "base/shares.h"
#include "bridge/bridge.h"
#include "bridge/question.h"
#include "wire/attribution.h"
#include "wire/line_reader.h"
#include "wire/log_level.h"
#include "wire/message.h"

namespace corral::bridge {

struct Call {
  std::string client_id;  // JSON; empty while it is suspended
  std::string method;
  std::string token;  // the client's progress token, JSON; empty = none
  std::string uri;    // of resources/read, JSON
  Abilities abilities;
  std::optional<wire::LogLevel> level;
  wire::Line params;      // what a retry must repeat; kept only if the client can be asked for input
  bool at_server = true;  // otherwise the retry sends it again

  std::vector<Question> questions;
  std::string state;  // the handle that the client received; empty unless it is suspended
  Clock::time_point
      due{};  // when its questions are sent to the client; for a suspended call: when it is abandoned
  std::optional<wire::Message> answer;  // the server's answer, kept for the retry; has an owner
  std::string progress;                 // the last progress that could not be delivered

  bool suspended() const { return !state.empty(); }
  /// Whether the server may still send requests because of it.
  bool in_progress() const { return at_server && !answer; }
};

/// Bytes that may be held for a client that may never come back for them: its requests while it can be asked
/// for input because of them, the questions, and answers that wait for a retry.
inline constexpr std::size_t kMostHeld = std::size_t{64} << 20;

/// Not re-entrant. References to calls are valid until the next change.
class OpenCalls {
 public:
  /// `account` is charged for what is held; null = not charged. It must outlive this object.
  explicit OpenCalls(Account* account);

  /// Whether `bytes` more may be held, within kMostHeld and the account's quota. They are charged from then
  /// on, until something is removed or `settle` is called.
  bool reserve(std::size_t bytes);
  /// Returns what was reserved and is not held.
  void settle() { charged_.resize(held()); }

  Call& add(UpId id, Call call);
  Call* find(UpId id);
  std::optional<Call> take(UpId id);
  std::optional<UpId> by_client(std::string_view client_id) const;
  std::optional<UpId> by_state(std::string_view state) const;

  /// The client's request has been answered with this handle; returns its id.
  std::string suspend(UpId id, const std::string& state);
  /// A retry has resumed the call; its handle is used up.
  void resume(UpId id, std::string_view client_id, const Abilities& abilities,
              std::optional<wire::LogLevel> level);

  void ask(UpId id, Question question);
  /// The server has cancelled its question.
  void forget_question(std::string_view question_id);
  /// Moves all questions out of the call.
  std::vector<Question> take_questions(UpId id);

  /// The call that this question belongs to: the latest one whose client can be asked. A call whose client
  /// waits is preferred to a suspended one, which is likely to be idle.
  std::optional<UpId> cause_of(Ask ask) const;
  /// The only call that can be the cause of any question; empty if there are several or none.
  std::optional<UpId> only_cause(Clock::time_point now) const;
  /// A client has abandoned a call; its server may still work on it and send requests.
  void gave_up(Clock::time_point now) { given_up_ = now; }

  /// Whether any call can be the cause of a question.
  bool any_cause() const;

  /// The lowest log level that the waiting calls want; empty = no log lines at all.
  std::optional<wire::LogLevel> lowest_level() const;

  std::size_t suspended() const { return states_.size(); }
  /// Calls with questions that were not sent yet, and suspended calls.
  const std::set<UpId>& waiting() const { return waiting_; }
  std::size_t held() const;
  std::optional<Clock::time_point> next_due() const;
  std::vector<UpId> due(Clock::time_point now) const;

 private:
  enum class Count : std::uint8_t { Add, Remove };
  void count_level(const Call& call, Count how);
  void note(UpId id, const Call& call);

  std::map<UpId, Call> calls_;  // by the id at the server
  std::map<std::string, UpId, std::less<>> clients_;
  std::map<std::string, UpId, std::less<>> states_;
  std::set<UpId> waiting_;
  std::optional<Clock::time_point> given_up_;  // the last time that a call was abandoned
  std::size_t params_held_ = 0;
  Account::Held charged_;
  std::array<std::size_t, wire::kLogLevels.size()>
      levels_{};  // how many calls with a waiting client want each level
};

/// The memory that a kept part of a line holds: the whole line.
std::size_t held_by(const wire::Line& part);

/// A handle that cannot be guessed: 32 random bytes.
std::string fresh_state();

}  // namespace corral::bridge
