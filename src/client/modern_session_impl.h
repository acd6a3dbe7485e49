// The inside of a modern session: what clients post is in modern_session.cc, what goes back to them in
// modern_answers.cc.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client/modern_session.h"
#include "wire/log_level.h"

namespace corral::client {

constexpr std::array<std::string_view, 3> kListsToHear = {"tools", "prompts", "resources"};

/// A request that waits for its answer.
struct ModernPost {
  std::uint64_t id = 0;  // ours, never used twice
  std::shared_ptr<http::Exchange> exchange;
  std::string client_id;                // JSON, as the client wrote it
  std::string client_token;             // likewise; empty = it wants to hear of no progress
  std::optional<wire::LogLevel> level;  // of the log lines that it wants
  bool listens = false;
  std::uint8_t hears = 0;     // of which lists a listen wants to hear; bits in the order of kListsToHear
  bool acknowledged = false;  // a listen hears nothing before that
  bool streaming = false;     // its status line is out
  Clock::time_point heard{};  // since when it has heard nothing
};

/// A request that no server has seen yet.
struct HeldPost {
  std::uint64_t id = 0;
  std::shared_ptr<http::Exchange> exchange;
  Posted posted;
};

struct ModernSession::Impl : std::enable_shared_from_this<ModernSession::Impl> {
  Impl(ModernSession& itself, Loop& on, const HttpLimits& bounds, Gone when_gone)
      : owner(itself), loop(on), limits(bounds), gone(std::move(when_gone)), timer(on) {}

  // from the clients
  void post(std::shared_ptr<http::Exchange> exchange, const Posted& posted);
  void take_notification(http::Exchange& exchange, const Posted& posted);
  bool no_room_to_wait(std::size_t bytes) const;
  void take_request(std::uint64_t id, std::shared_ptr<http::Exchange> exchange, const Posted& posted);
  void hung_up(std::uint64_t id);
  void take_waiting_soon();
  void take_waiting();
  /// To the session; later, if it is in the middle of something.
  void tell(std::string message);

  // to the clients
  void route(const wire::Line& line, std::span<const wire::Edit> edits);
  void answer(const wire::Line& line, const wire::Envelope& envelope, std::span<const wire::Edit> edits);
  void give_answer(const ModernPost& post, std::string text, bool error);
  void news(std::string text);
  void progress(std::string text, const wire::Envelope& envelope);
  void listened(std::string text, const wire::Envelope& envelope);
  void list_changed(std::string_view method);
  void log_message(std::string text, const wire::Envelope& envelope);
  void listen_cancelled(std::string_view text, const wire::Envelope& envelope);
  void write(ModernPost& post, std::string text);
  void begin_stream(ModernPost& post);

  // how much the open streams have not taken; whoever has its answer is the connection's affair
  std::size_t queued() const;
  void weigh();
  void shed();
  void relieve();

  void watch(Clock::duration after);
  void tick();
  void answer_all(session::Transport::Close how);
  void leave();

  ModernPost* find(std::uint64_t id);
  std::optional<ModernPost> take(std::uint64_t id);

  ModernSession& owner;
  Loop& loop;
  const HttpLimits limits;
  Gone gone;
  std::unique_ptr<session::Session> session;
  std::vector<ModernPost> open;  // by id
  std::vector<HeldPost> waiting;
  std::size_t waiting_bytes = 0;
  Timer timer;
  Clock::time_point due{};
  std::uint64_t last_id = 0;
  std::uint64_t dropped = 0;
  unsigned busy = 0;  // calls of or into the session that are on the stack
  bool paused = false;
  bool congested = false;
  bool taking_soon = false;
  bool closed = false;
  bool left = false;
};

}  // namespace corral::client
