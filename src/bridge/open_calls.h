// The calls of one modern client that a legacy server has not finished: those whose client waits for the
// answer, and those that are suspended, because the server waits for the client's word. Pure.
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
  std::string token;  // the client's progress token, JSON; empty = it wants none
  std::string uri;    // of resources/read, JSON
  Abilities abilities;
  std::optional<wire::LogLevel> level;
  wire::Line params;      // what a retry must repeat; kept only if the client can be asked something
  bool at_server = true;  // otherwise the retry sends it again

  std::vector<Question> questions;
  std::string state;                    // the handle that the client was given; empty unless it is suspended
  Clock::time_point due{};              // when its questions are told; when it is suspended: given up
  std::optional<wire::Message> answer;  // the server's last word, kept for the retry; has an owner
  std::string progress;                 // the last one that nobody could be told

  bool suspended() const { return !state.empty(); }
  /// The server may still ask something because of it.
  bool in_progress() const { return at_server && !answer; }
};

/// Bytes that may be held for one client which may never come back for them: its requests as long as it can
/// be asked something because of them, the questions, and answers that wait for a retry.
inline constexpr std::size_t kMostHeld = std::size_t{64} << 20;

class OpenCalls {
 public:
  /// Whose what is held is; null = nobody's. Outlives us.
  explicit OpenCalls(Account* account);

  /// Whether so many bytes more may be held: of kMostHeld, and of the account's. They are the account's from
  /// then on, until something is taken out or `settle` is called.
  bool reserve(std::size_t bytes);
  /// Gives back what was reserved and is not held.
  void settle() { charged_.resize(held()); }

  Call& add(UpId id, Call call);
  Call* find(UpId id);
  std::optional<Call> take(UpId id);
  std::optional<UpId> by_client(std::string_view client_id) const;
  std::optional<UpId> by_state(std::string_view state) const;

  /// The client's request has been answered under this handle; returns its id.
  std::string suspend(UpId id, const std::string& state);
  /// A retry has taken it up; its handle is used.
  void resume(UpId id, std::string_view client_id, const Abilities& abilities,
              std::optional<wire::LogLevel> level);

  void ask(UpId id, Question question);
  /// The server has taken its question back.
  void forget_question(std::string_view question_id);
  /// Takes all questions from the call.
  std::vector<Question> take_questions(UpId id);

  /// The call that this question is for: the latest that can be asked it, one whose client waits before one
  /// that is suspended, since that one is likely to stand still.
  std::optional<UpId> cause_of(Ask ask) const;
  /// The only call that can be the cause of any question; nothing if there are several or none.
  std::optional<UpId> only_cause(Clock::time_point now) const;
  /// A client no longer wants the answer to a call; its server may still be at work on it, and ask.
  void gave_up(Clock::time_point now) { given_up_ = now; }

  /// Whether any call can be the cause of a question.
  bool any_cause() const;

  /// What the client waits to hear of the server's log, of all calls together; nothing = no line at all.
  std::optional<wire::LogLevel> lowest_level() const;

  std::size_t suspended() const { return states_.size(); }
  /// With questions that are not told, or suspended.
  const std::set<UpId>& waiting() const { return waiting_; }
  std::size_t held() const;
  std::optional<Clock::time_point> next_due() const;
  std::vector<UpId> due(Clock::time_point now) const;

 private:
  void count_level(const Call& call, bool more);
  void note(UpId id, const Call& call);

  std::map<UpId, Call> calls_;  // by the id that the server knows
  std::map<std::string, UpId, std::less<>> clients_;
  std::map<std::string, UpId, std::less<>> states_;
  std::set<UpId> waiting_;
  std::optional<Clock::time_point> given_up_;  // the last one
  std::size_t params_held_ = 0;
  Account::Held charged_;
  std::array<std::size_t, wire::kLogLevels.size()> levels_{};  // how many calls whose client waits want each
};

/// What a kept part of a line holds in memory: all of the line.
std::size_t held_by(const wire::Line& part);

/// A handle that nobody can guess: 32 random bytes.
std::string fresh_state();

}  // namespace corral::bridge
