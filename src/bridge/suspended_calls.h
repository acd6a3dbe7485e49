// A legacy server sends a request to its client and waits; a modern client receives it only as the result of
// its own request, and comes back with another one. In between the call is suspended: it stays open at the
// server, and the client holds a handle that works once, for the same request only.
//
// This object decides which call a question belongs to, passes questions and answers on, and keeps what
// arrives for a suspended call until its client retries. Pure: messages in, messages out.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bridge/modern_request.h"
#include "bridge/modern_side.h"

namespace corral::bridge {

/// Owned by the bridge. Not re-entrant, except that a message to the server may bring a message from it at
/// once.
class SuspendedCalls {
 public:
  /// Sends the server's answer to the client that waits for it. The call has been removed from the open
  /// calls.
  using Deliver = std::function<void(Call call, const wire::Message& answer, Clock::time_point now)>;

  /// `suspension` is how long a call waits for its client. `side` must outlive this object.
  SuspendedCalls(ModernSide& side, Clock::duration suspension, Deliver deliver);

  /// The server has sent a request.
  void question(const wire::Message& message, Clock::time_point now);
  /// The server has answered a call with an error, because it wants its user to visit some pages and the
  /// client to call again. The call has been removed from the open calls.
  void wants_urls(Call call, std::string_view error, Clock::time_point now);
  /// The server has answered a suspended call; keeps the answer for the retry.
  void keep(Call& call, const wire::Message& message);
  /// A call has ended. Moves its questions to another call that may have caused them; questions that no other
  /// request can be asked are dismissed. With several programs all of them are dismissed: the other call may
  /// belong to another program, which must not see them.
  void pass_on(std::vector<Question> questions, Clock::time_point now);
  /// When no open call can be the cause of a question, nothing waits for the answers to questions that
  /// answered calls still hold: dismisses them.
  void dismiss_orphans();
  /// The client has cancelled the call, which has been removed from the open calls.
  void cancelled(const Call& call);

  enum class Retry : std::uint8_t {
    Done,
    SendAgain,  // as a new request: the server answered the first one with the pages to visit
  };
  /// The client has sent a request with a handle.
  Retry retry(const wire::Message& message, const ModernRequest& request, Clock::time_point now);

  /// Sends questions that were gathered, and gives up suspended calls whose time is over.
  void expire(Clock::time_point now);
  /// The client sends nothing more.
  void client_ended();

 private:
  std::optional<UpId> cause_of(Ask ask, Clock::time_point now);
  void refuse(Ask ask, std::string_view question_id, Clock::time_point now);
  void fail(UpId id, Ask ask);
  void add_question(UpId id, Question question, Clock::time_point now);
  bool room_for(const Call& call, std::size_t bytes);
  std::string free_key(const Call& call, std::string wished);
  void tell(UpId id, Clock::time_point now);
  void resumed(UpId id, const std::vector<std::string>& responses, Clock::time_point now);
  void deliver_kept(UpId id, Clock::time_point now);
  void tell_missed_progress(Call& call);
  void give_up(UpId id, std::string_view why);
  void cancel_at_server(UpId id, std::string_view why);
  void dismiss(const std::vector<Question>& questions);

  ModernSide& side_;
  OpenCalls& calls_;  // those of the side
  Clock::duration suspension_;
  Deliver deliver_;
  std::uint64_t next_key_ = 1;
  bool ended_ = false;  // the client is gone
};

}  // namespace corral::bridge
