// The calls of a legacy client to a modern server. A call may be sent several times: when the server needs
// input first, the client is asked, and the call is repeated with its answers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bridge/changes.h"
#include "bridge/input_requests.h"
#include "bridge/legacy_side.h"

namespace corral::bridge {

/// Owned by the bridge for a legacy client. `side` must outlive it.
class LegacyCalls {
 public:
  static constexpr std::size_t kMostCalls = 1024;
  static constexpr int kMostRounds = 8;
  static constexpr Clock::duration kLeg = std::chrono::minutes(10);  // for the client's answers
  static constexpr Clock::duration kPause =
      std::chrono::seconds(1);  // before a call is repeated without a question
  /// A longer request is not kept for repetition.
  static constexpr std::size_t kLongestKept = std::size_t{4} << 20;
  /// For all calls together: requests, states and answers that wait for the next round.
  static constexpr std::size_t kMostKept = std::size_t{64} << 20;

  explicit LegacyCalls(LegacySide& side);

  bool open(std::string_view id) const { return calls_.contains(id); }
  void call(const wire::Message& message);
  /// The client cancels a call; `reason` is JSON or empty.
  void cancel(std::string_view id, std::string_view reason);
  /// A response of the client to a question, which may not be from here.
  void client_answered(const wire::Message& message);
  /// The client can no longer answer questions.
  void client_ended();

  void server_answered(const wire::Message& message, Clock::time_point now);
  void progress(const wire::Message& message);

  std::optional<Clock::time_point> next_deadline() const;
  void expire(Clock::time_point now);

 private:
  struct Question {
    QuestionId id;
    std::string key;
    std::string method;
    std::string answer;  // JSON; empty = not answered yet
  };
  struct Call {
    std::string method;
    std::string token;        // the client's progress token as written; empty = no progress wanted
    wire::Message request{};  // with its owner; empty if it cannot be repeated
    int rounds = 0;           // how often the server asked for input
    UpId up{};                // its id at the server; empty = not at the server now
    std::string state;        // to be returned to the server
    std::size_t kept = 0;     // its share of kMostKept
    std::vector<Question> questions{};
    std::optional<Clock::time_point> deadline{};
  };
  using Calls = std::map<std::string, Call, std::less<>>;  // by the JSON text of the client's id

  void pass_result(const wire::Message& message, const Call& call, std::string_view id);
  void pass_error(const wire::Message& message, const Call& call, std::string_view id);
  void input_required(const std::string& id, std::string_view result, Clock::time_point now);
  std::optional<std::string> cannot_go_on(const Call& call) const;
  void ask(const std::string& id, const std::vector<InputRequest>& requests, Clock::time_point now);
  void again(const std::string& id);
  bool keep(Call& call, std::size_t bytes);
  void release(std::size_t bytes);
  void release_answers(Call& call);

  /// Removes the call; its open questions are cancelled.
  Call end(Calls::iterator found);
  /// Ends the call with an error.
  void fail(const std::string& id, std::string_view sentence);
  /// Ends the call with a tool result that the model can read, if it is a tool call: the user may be able to
  /// help.
  void turn_down(const std::string& id, std::string_view sentence);

  LegacySide& side_;
  Calls calls_;
  std::map<UpId, std::string> ups_;              // keys of calls_ by the id at the server
  std::map<QuestionId, std::string> questions_;  // and by the id of an open question
  std::size_t kept_ = 0;
  Account::Held held_;  // as much as kept_, charged to the client's principal
  bool client_ended_ = false;
};

}  // namespace corral::bridge
