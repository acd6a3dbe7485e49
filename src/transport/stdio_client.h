// A client that is connected through a shim: the client's pipes, which the shim passed on, the line to the
// shim, and the client's process. The end of any of them can end the session.
//
// Owned by the daemon's table of connected sessions, and used on the loop's thread. It owns the session, the
// channel and the pidfd of the client, and shares the line with the connection at the daemon's socket. The
// session calls it as its transport, from within calls of the channel, of the router and of the pool; it
// calls the session when a message, an end or room in the output arrives, always from the loop. The session
// is destroyed only with the client, and the client only from `Gone` or when none of its functions is on the
// stack: the line then calls it no more.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/lifetime.h"
#include "base/loop.h"
#include "base/unique_fd.h"
#include "session/session.h"
#include "session/transport.h"
#include "transport/session_opener.h"
#include "wire/line_pipe.h"

namespace corral::transport {

class StdioClient final : public session::Transport, private wire::Channel::Handler {
 public:
  using Gone = std::function<void(StdioClient&)>;

  /// `gone` is called once, from the loop, when the session has ended, the client has every answer or its
  /// time is over, and the shim was told the exit code; it may destroy the client. `make_channel` decides the
  /// framing of the messages. `loop` must outlive the client.
  StdioClient(Loop& loop, Arrival arrival, std::shared_ptr<ShimLine> line, std::size_t line_cap, Gone gone,
              wire::ChannelMaker make_channel = wire::make_line_pipe);
  ~StdioClient() override;

  /// Makes the session and starts reading. Call once, before any other function. `pool` must outlive the
  /// client. `owner` is the session object that the session belongs to; empty = none.
  void begin(router::SessionId id, pool::Pool& pool, std::shared_ptr<const pool::ServerSpec> spec,
             std::string owner = {});

  /// What the daemon has of the client's pipes: inodes, 0 = not known.
  struct Pipes {
    std::uint64_t input = 0;
    std::uint64_t output = 0;
  };
  /// Looks for the process that goes on with the session after the client's process has exited, and calls
  /// `found` once, later, with a pidfd; invalid = there is none.
  using FindHeir = std::function<void(const Pipes& pipes, std::function<void(UniqueFd)> found)>;
  /// Without it, the session ends with the client's process. Call before `begin`.
  void find_heir_with(FindHeir find) { find_heir_ = std::move(find); }

  /// Valid from `begin` until the client is destroyed, also after the session has ended.
  session::Session& session() { return *session_; }
  const session::Session& session() const { return *session_; }
  /// As the shim named it, for people; 0 if it named none. Nothing is ended by this number.
  pid_t client_pid() const { return client_pid_; }
  pid_t shim_pid() const { return shim_pid_; }
  /// A pidfd of the client's process; -1 if there is none.
  int client_process() const { return client_.get(); }

 private:
  void send(const wire::Line& line, std::initializer_list<wire::Edit> edits) override;
  bool overflowing() const override { return channel_->queued() > most_queued_; }
  bool congested() const override { return channel_->congested(); }
  void pause() override { channel_->pause(); }
  void resume() override { channel_->resume(); }
  void error_output(std::string_view bytes) override { line_->error_output(bytes); }
  void note(const std::string& sentence) override { line_->note(sentence); }
  bool wants_advice() const override { return wants_advice_; }
  void close(Close how) override;
  void exit(int code, const std::string& why) override;

  void on_message(const wire::Message& message) override;
  void on_oversized(const wire::Oversized& oversized) override;
  void on_input_end() override { session_->input_ended(); }
  void on_output_lost() override;
  void on_output_drained() override { session_->output_drained(); }
  void on_output_closed() override { leave_if_done(); }

  void watch_client();
  void client_has_ended();
  void go_on_with(UniqueFd process);
  void leave_if_done();
  void limit_flush(std::size_t left);

  Loop& loop_;
  std::shared_ptr<ShimLine> line_;
  const Pipes pipes_;
  std::unique_ptr<wire::Channel> channel_;
  std::size_t most_queued_;
  FindHeir find_heir_;
  UniqueFd client_;
  std::unique_ptr<Watch> client_watch_;
  Timer heir_limit_;
  Timer flush_limit_;
  Clock::time_point flush_until_{};
  std::unique_ptr<session::Session> session_;
  Gone gone_;
  pid_t client_pid_;
  pid_t shim_pid_;
  bool wants_advice_;
  bool over_ = false;  // the session has sent its last message
  bool exited_ = false;
  int code_ = 0;
  std::string why_;
  Lifetime lifetime_;
};

}  // namespace corral::transport
