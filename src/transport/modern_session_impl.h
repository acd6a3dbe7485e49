// The implementation of a modern session: client requests are in modern_session.cc, messages to clients in
// modern_answers.cc.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/id.h"
#include "router/lingering_work.h"
#include "transport/modern_session.h"
#include "wire/log_level.h"

namespace corral::transport {

constexpr std::array<std::string_view, 3> kListsToHear = {"tools", "prompts", "resources"};

/// Identifies a request; the session uses the same id.
using PostId = Id<struct PostTag>;

/// A request that waits for its answer.
struct ModernPost {
  PostId id;
  std::shared_ptr<http::Exchange> exchange;
  std::string client_id;                // JSON, as the client wrote it
  std::string client_token;             // JSON, as the client wrote it; empty = no progress wanted
  std::optional<wire::LogLevel> level;  // of the log lines that it wants
  bool listens = false;
  bool asks_server = true;    // false: a legacy server is not asked
  std::uint8_t hears = 0;     // the lists that a listen wants; bits in the order of kListsToHear
  bool acknowledged = false;  // a listen receives nothing before that
  bool streaming = false;     // its status line was sent
  bool behind = false;        // a listen that has lost something: it ends, so that its client asks again
  std::uint64_t program = 0;  // the sending program, if it is known
  Clock::time_point heard{};  // since when nothing was sent to it
};

/// A request that no server has seen yet.
struct HeldPost {
  PostId id;
  std::shared_ptr<http::Exchange> exchange;
  Posted posted;
  Account::Held bytes{};
};

struct ModernSession::Impl : std::enable_shared_from_this<ModernSession::Impl> {
  Impl(ModernSession& itself, Loop& on, const HttpLimits& bounds, Gone when_gone, Programs whose)
      : owner(itself), loop(on), limits(bounds), programs(whose), gone(std::move(when_gone)), timer(on) {}

  // From the clients.
  void post(std::shared_ptr<http::Exchange> exchange, const Posted& posted);
  void take_notification(http::Exchange& exchange, const Posted& posted);
  std::size_t open_of(std::uint64_t program) const;
  bool no_room_to_wait(const Posted& posted) const;
  void take_request(PostId id, std::shared_ptr<http::Exchange> exchange, const Posted& posted);
  void hung_up(PostId id);
  void take_waiting_soon();
  void take_waiting();
  /// Passes a message to the session; later, if the session is on the stack.
  void tell(const wire::Message& message);

  // To the clients.
  void route(const wire::Line& line, std::span<const wire::Edit> edits);
  void answer(const wire::Message& message, std::span<const wire::Edit> edits);
  /// `status` is used if nothing was sent for this request yet.
  void give_answer(const ModernPost& post, std::string text, int status);
  void news(std::string text);
  /// The request that a notification belongs to, and the part of it that must be replaced with the client's
  /// own value. `post` is null if it belongs to none.
  struct Recipient {
    ModernPost* post = nullptr;
    wire::Span where{};
    std::string_view client_word{};  // in `post`
  };
  Recipient recipient_of(const wire::Message& message);
  Recipient of_progress(const wire::Message& message);
  Recipient of_listen(const wire::Message& message);
  Recipient of_log_message(const wire::Message& message);
  void list_changed(std::string_view method);
  void listen_cancelled(const wire::Message& message);
  void write(ModernPost& post, std::string text);
  void begin_stream(ModernPost& post);

  // Flow control: what the clients of open streams have not read. Completed answers are counted by their
  // connection.
  std::size_t queued() const;
  void check_pressure();
  void drop_slowest();
  void drop_those_behind();
  void give_up(PostId id);
  void report_drained();

  void watch(Clock::duration after);
  void tick();
  void answer_all(session::Transport::Close how);
  void leave();

  bool server_is_modern() const;
  std::optional<PostId> cause_of_log() const;
  void remember_given_up(const ModernPost& post);
  void remember_answered(const ModernPost& post);

  ModernPost* find(PostId id);
  std::optional<ModernPost> take(PostId id);

  ModernSession& owner;
  Loop& loop;
  const HttpLimits limits;
  const Programs programs;
  Gone gone;
  std::unique_ptr<session::Session> session;
  std::vector<ModernPost> open;  // by id
  router::LingeringWork<PostId, PostId> lingering;
  std::vector<HeldPost> waiting;
  std::size_t waiting_bytes = 0;
  Timer timer;
  Clock::time_point due{};
  IdSource<PostId> ids;
  std::uint64_t dropped = 0;
  unsigned busy = 0;  // calls of or into the session that are on the stack
  bool paused = false;
  bool congested = false;
  bool some_behind = false;
  bool taking_soon = false;
  bool closed = false;
  bool left = false;
};

}  // namespace corral::transport
