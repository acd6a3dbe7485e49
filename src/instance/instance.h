// One running process tree of a server: its pipes, its handshake, its end. Owned by the router that speaks
// through it; letting go of it ends the tree.
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

/// An answer that came and cannot be passed on.
struct LostAnswer {
  std::string id;          // JSON text; empty if it is not known whose it was
  bool too_large = false;  // it passed the line cap; otherwise it is not a message
  std::string why;         // half a sentence: "it has 70000000 bytes, …"
};

class Instance final : private wire::Channel::Handler, private KeeperWatch::Events {
 public:
  enum class State : std::uint8_t { Starting, Opening, Ready, Ending, Ended };

  /// The router's side. Only `on_ended` may destroy the instance.
  class Events {
   public:
    virtual ~Events() = default;
    /// The handshake is over; `opened()` tells how it went.
    virtual void on_opened() = 0;
    virtual void on_message(const wire::Message& message) = 0;
    virtual void on_lost_answer(const LostAnswer& lost) = 0;
    virtual void on_error_output(std::string_view bytes) = 0;
    /// The server reads again, after its queue had been full.
    virtual void on_drained() = 0;
    /// It will say no more: it closed its output or died. The calls in flight are lost.
    virtual void on_lost(const std::string& sentence) = 0;
    virtual void on_ended(const Ending& ending) = 0;
  };

  struct Counters {
    std::uint64_t lines_dropped = 0;  // no JSON-RPC: banners, half messages
    std::uint64_t bytes_dropped = 0;
  };

  /// Written down in the journal before anything is executed, and completed when the server runs. That it has
  /// ended is for the caller to write, once the tree is proved gone: only he knows why it went, and whether
  /// what a lost keeper has left is gone too. `make_channel` decides the framing of the messages.
  static Result<std::unique_ptr<Instance>> start(Loop& loop, proc::Spawner& spawner, proc::LaunchSpec spec,
                                                 std::size_t line_cap, Events& events,
                                                 JournalEntry entry = {},
                                                 wire::ChannelMaker make_channel = wire::make_line_pipe);
  ~Instance() override;

  /// Begins the handshake; once per instance.
  void open(const Opening& opening);
  const Handshake& handshake() const { return *handshake_; }

  void send(const wire::Line& line, std::initializer_list<wire::Edit> edits = {}) {
    channel_->send(line, edits);
  }
  void send(std::string_view message) { channel_->send(message); }
  /// The server does not read: do not give it more.
  bool congested() const { return channel_->congested(); }
  /// Whoever owns all of its answers does not read: let the server wait.
  void pause() { channel_->pause(); }
  void resume() { channel_->resume(); }

  /// Ids that we give are never given twice.
  CallId next_id() { return ids_.next(); }

  using Haste = instance::Haste;
  /// Closes its input, and the keeper sees to the rest. A hastier call shortens what is left.
  void stop(Haste haste);

  State state() const { return state_; }
  const proc::ProcessTree& tree() const { return tree_; }
  const InstanceId& id() const { return id_; }
  pid_t keeper() const { return tree_.keeper(); }
  pid_t server_pid() const { return server_pid_; }
  /// Of the pipe that the server reads: whoever in its tree has it is the one that we speak to.
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
  void finish(Ending ending);

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
  bool tree_gone_ = false;           // only what it said last is to be handed over
  bool unannounced_ = false;         // it is open, and nobody knows yet
  std::vector<wire::Message> held_;  // what it said meanwhile; each has an owner
};

}  // namespace corral::instance
