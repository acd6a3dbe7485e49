// One running process tree of a server: its channel, its handshake, its stderr and its end. Owned by the
// router that sends through it, and used on the loop's thread. Destroying it ends the tree.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/loop.h"
#include "base/result.h"
#include "instance/ending.h"
#include "instance/error_output.h"
#include "instance/handshake.h"
#include "instance/journal.h"
#include "instance/keeper_watch.h"
#include "proc/launch_spec.h"
#include "proc/process_tree.h"
#include "proc/spawner.h"
#include "wire/line_pipe.h"
#include "wire/message.h"

namespace corral::instance {

/// An answer that arrived and cannot be passed on.
struct LostAnswer {
  std::string id;          // JSON text; empty if the call is not known
  bool too_large = false;  // longer than the line cap; otherwise it is not valid JSON-RPC
  std::string why;         // a clause: "it is 70000000 bytes long, …"
};

class Instance final : private wire::Channel::Handler, private KeeperWatch::Events {
 public:
  enum class State : std::uint8_t { Starting, Opening, Ready, Ending, Ended };

  /// What an instance reports to its router, from the loop. Each function may call `send`, `pause`, `resume`
  /// and `stop`. Only `on_ended`, the last call, may destroy the instance.
  class Events {
   public:
    virtual ~Events() = default;
    /// The handshake is over; `handshake().outcome()` says how it went.
    virtual void on_opened() = 0;
    /// A message that is not part of the handshake. Its text is valid during the call unless it has an owner.
    virtual void on_message(const wire::Message& message) = 0;
    /// The call with this id will get no answer.
    virtual void on_lost_answer(const LostAnswer& lost) = 0;
    virtual void on_error_output(std::string_view bytes) = 0;
    /// The server reads again, after `congested` had been true.
    virtual void on_drained() = 0;
    /// The server sends nothing more, because it closed its output or ended. The open calls are lost. Called
    /// once, before `on_ended`; `sentence` completes "the server …".
    virtual void on_server_lost(const std::string& sentence) = 0;
    /// The tree is gone, or its keeper is.
    virtual void on_ended(const TreeEnd& ending) = 0;
  };

  struct Counters {
    std::uint64_t lines_dropped = 0;  // not JSON-RPC: banners, parts of messages, messages beyond the cap
    std::uint64_t bytes_dropped = 0;
  };

  /// Records the instance in the journal before anything is executed, and again when the server runs. The
  /// caller records the end once the tree is proved gone, because only the caller knows why it ended, and
  /// whether the processes of a lost keeper are gone too. `make_channel` decides the framing of the messages.
  /// `loop`, `spawner` and `events` must outlive the instance.
  static Result<std::unique_ptr<Instance>> start(Loop& loop, proc::Spawner& spawner, proc::LaunchSpec spec,
                                                 std::size_t line_cap, Events& events,
                                                 JournalEntry entry = {},
                                                 wire::ChannelMaker make_channel = wire::make_line_pipe);
  ~Instance() override;

  /// Begins the handshake; has an effect once per instance. Messages may be sent after `on_opened`.
  void open(const Opening& opening);
  const Handshake& handshake() const { return *handshake_; }

  void send(const wire::Line& line, std::initializer_list<wire::Edit> edits = {}) {
    channel_->send(line, edits);
  }
  void send(std::string_view message) { channel_->send(message); }
  /// The server does not read. The caller should send no more until `on_drained`.
  bool congested() const { return channel_->congested(); }
  /// For a caller that cannot take more messages: the server blocks when its pipe is full.
  void pause() { channel_->pause(); }
  void resume() { channel_->resume(); }

  /// An id for a request to this server. Never returns the same one twice.
  CallId next_id() { return ids_.next(); }

  using Haste = instance::Haste;
  /// Closes the input of the server and lets the keeper end the tree; `on_ended` follows. A hastier call
  /// shortens the time that is left.
  void stop(Haste haste);

  State state() const { return state_; }
  const proc::ProcessTree& tree() const { return tree_; }
  const InstanceId& id() const { return id_; }
  pid_t keeper() const { return tree_.keeper(); }
  pid_t server_pid() const { return server_pid_; }
  /// The inode of the pipe that the server reads. The process in its tree that has this pipe open is the one
  /// that corral talks to.
  std::uint64_t input_inode() const { return input_inode_; }
  const char* level() const { return level_; }
  Clock::time_point started() const { return started_; }
  const Counters& counters() const { return counters_; }
  const std::string& error_tail() const { return errors_->tail(); }
  std::uint64_t error_output_bytes() const { return errors_->bytes(); }

 private:
  Instance(Loop& loop, proc::ProcessTree tree, const proc::LaunchSpec& spec, Events& events);

  void on_message(const wire::Message& message) override;
  void on_oversized(const wire::Oversized& oversized) override;
  void on_input_end() override;
  void on_output_lost() override;
  void on_output_drained() override { events_.on_drained(); }
  void on_server_started(const keeper::Event& event) override;
  void on_tree_ended(const keeper::Event& event) override;
  void on_keeper_lost(KeeperWatch::Loss loss) override;

  void answer_lost(const LostAnswer& lost);
  void go_on_opening(Handshake::Taken taken);
  void greet();
  void wait_until_probe_is_read();
  void wait_for_answer(Clock::duration patience);
  void lost(const std::string& sentence);
  void finish(TreeEnd ending);

  Events& events_;
  JournalEntry entry_;
  proc::ProcessTree tree_;
  InstanceId id_;
  std::string executable_;
  std::string directory_;
  KeeperWatch keeper_;
  std::unique_ptr<wire::Channel> channel_;
  std::unique_ptr<ErrorOutput> errors_;
  std::optional<Handshake> handshake_;
  Timer patience_;
  Clock::time_point greeted_{};
  State state_ = State::Starting;
  IdSource<CallId> ids_;
  pid_t server_pid_ = 0;
  std::uint64_t input_inode_ = 0;
  const char* level_ = "";
  Clock::time_point started_ = Clock::now();
  Counters counters_;
  bool lost_ = false;
  bool tree_gone_ = false;           // only its last messages remain to be delivered
  bool unannounced_ = false;         // it is open, and `on_opened` was not called yet
  std::vector<wire::Message> held_;  // what it sent until then; each has an owner
};

}  // namespace corral::instance
