// One connection at the daemon's socket: reads the hello, passes it to the session opener, and carries the
// replies back to the shim. Must be used on the loop's thread.
//
// The listener owns it until it calls `Finished`, which may be inside the function that sends the last reply.
// The session of a shim shares it as its `ShimLine`, and may hold it for longer than the listener exists:
// what it says after the end has no effect. A question does not hold it; an answer that comes too late is
// dropped. The functions of `ShimLine` never call the session. Only the loop does, by the task of
// `when_gone`, once, if the peer is gone first.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/loop.h"
#include "base/unique_fd.h"
#include "control/confinement.h"
#include "transport/session_opener.h"
#include "transport/unix_listener.h"

namespace corral::transport {

/// State shared by all connections of one listener.
struct ListenerContext {
  Loop& loop;
  SessionOpener& opener;
  control::Surroundings own;
  ListenerCounters counters;
};

class ControlConnection final : public ShimLine, public std::enable_shared_from_this<ControlConnection> {
 public:
  static constexpr std::size_t kMostQueued = std::size_t{1} << 20;

  using Finished = std::function<void(const std::shared_ptr<ControlConnection>&)>;

  /// `finished` is called once, when the connection needs nothing more. It may release the last reference.
  ControlConnection(std::shared_ptr<ListenerContext> context, UniqueFd socket, pid_t peer, Finished finished);

  /// Starts reading, with a limit on the time that the hello may take. Call once, when a `shared_ptr` owns
  /// the connection.
  void start();
  /// Closes without notifying the peer or the session, because the daemon is exiting.
  void abandon();

  // Called by the opener, and after `accept` by the session that it made.
  void accept() override;
  void refuse(const std::string& why, int exit_code) override;
  void run_it(const std::string& why) override;
  void note(const std::string& sentence) override;
  void error_output(std::string_view bytes) override;
  void exit(int code, const std::string& why) override;
  void when_gone(std::function<void()> task) override;

 private:
  enum class State { Hello, Open, Closing, Finished };
  static constexpr std::size_t kMostDescriptors = 3;  // input, output, client

  void wait_for_bytes();
  void read_bytes();
  bool read_hello();
  void keep_descriptors(msghdr& message);
  void check_hello(std::string_view line);
  void serve(control::Hello hello);
  void open_session(control::Hello hello);
  void ask(control::Hello hello);
  void reject(const std::string& why);

  void say(const control::Reply& reply);
  void say_last(const control::Reply& reply);
  void tell_of_dropped();
  std::size_t queued() const { return out_.size() - written_; }
  void flush();
  void handle_hang_up();
  void wait_for_full_close();
  void finish();

  // Shared, because a session may hold this line for longer than the listener lives.
  std::shared_ptr<ListenerContext> context_;
  UniqueFd socket_;
  const pid_t peer_;
  Finished finished_;
  std::unique_ptr<Watch> watch_;
  Timer timer_;
  State state_ = State::Hello;

  std::string hello_;
  std::array<UniqueFd, kMostDescriptors> descriptors_;
  std::size_t descriptor_count_ = 0;
  bool too_many_descriptors_ = false;
  bool cut_off_ = false;  // the kernel could not pass all descriptors that were sent

  std::string out_;
  std::size_t written_ = 0;  // bytes of out_
  bool waiting_to_write_ = false;
  std::size_t dropped_ = 0;  // bytes of stderr since the last gap
  std::size_t ignored_ = 0;  // bytes that came after the hello
  bool needs_shim_ = false;  // a hang-up ends a session
  bool gone_ = false;
  std::function<void()> when_gone_;
};

}  // namespace corral::transport
