#include "instance/instance.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "keeper/report.h"
#include "wire/oversized_line.h"

namespace corral::instance {
namespace {

// A server that does not know server/discover may not answer it at all.
constexpr std::chrono::seconds kProbePatience{3};
constexpr std::chrono::milliseconds kBetweenGlances{250};  // checks whether it has read the request
// Longer than any client waits; the first start from a package registry is slow.
constexpr std::chrono::seconds kOpeningPatience{180};
// From the end of its output to its exit, whose status explains more.
constexpr std::chrono::seconds kDeathPatience{3};
struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return Error{std::string("could not make a pipe for the server: ") + strerror(errno) +
                 "; raise the open-file limit (ulimit -n)"};
  }
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

/// A spawn that fails after it was recorded has created nothing that could be left.
Result<proc::ProcessTree> spawn_journaled(proc::Spawner& spawner, proc::LaunchSpec& spec,
                                          const JournalEntry& entry) {
  if (entry.journal == nullptr) return spawner.spawn(spec);
  std::string begun;
  spec.before_start = [&entry, &begun](const proc::Birth& birth) {
    begun = birth.instance;
    entry.journal->about_to_start(birth, entry.server);
  };
  auto tree = spawner.spawn(spec);
  spec.before_start = nullptr;
  if (!tree && !begun.empty()) entry.journal->ended(begun, "not-started");
  return tree;
}

/// What is wrong with a message.
std::string described(const wire::Message& message) {
  return (message.kind() == wire::Kind::NotJson ? "it is not strict JSON: " : "it is not JSON-RPC 2.0: ") +
         std::string(message.fault()) + " at byte " + std::to_string(message.fault_at());
}

}  // namespace

Result<std::unique_ptr<Instance>> Instance::start(Loop& loop, proc::Spawner& spawner, proc::LaunchSpec spec,
                                                  std::size_t line_cap, Events& events, JournalEntry entry,
                                                  wire::ChannelMaker make_channel) {
  auto input = make_pipe();
  if (!input) return input.error();
  auto output = make_pipe();
  if (!output) return output.error();
  auto errors = make_pipe();
  if (!errors) return errors.error();
  struct stat pipe_status {};
  if (fstat(input->read.get(), &pipe_status) != 0) pipe_status.st_ino = 0;
  spec.input = input->read.get();
  spec.output = output->write.get();
  spec.error = errors->write.get();
  spec.watch_output = false;
  auto tree = spawn_journaled(spawner, spec, entry);
  if (!tree) return tree.error();

  std::unique_ptr<Instance> instance(new Instance(loop, std::move(*tree), spec, events));
  instance->entry_ = std::move(entry);
  instance->input_inode_ = pipe_status.st_ino;
  instance->channel_ = make_channel(loop, std::move(output->read), std::move(input->write), line_cap,
                                    *instance, "server-messages");
  instance->errors_ = std::make_unique<ErrorOutput>(
      loop, std::move(errors->read),
      [events = &events](std::string_view bytes) { events->on_error_output(bytes); });
  instance->channel_->resume();
  return instance;
}

Instance::Instance(Loop& loop, proc::ProcessTree tree, const proc::LaunchSpec& spec, Events& events)
    : events_(events),
      tree_(std::move(tree)),
      id_(tree_.instance()),
      executable_(spec.argv.front()),
      directory_(spec.directory),
      keeper_(loop, tree_, executable_, *this),
      patience_(loop) {}

Instance::~Instance() = default;

// ---- opening

void Instance::open(const Opening& opening) {
  if (state_ != State::Starting) return;
  state_ = State::Opening;
  handshake_.emplace(opening);
  greet();
}

void Instance::greet() {
  channel_->send(handshake_->request(next_id()));
  greeted_ = Clock::now();
  if (handshake_->probing()) return wait_until_probe_is_read();
  wait_for_answer(kOpeningPatience);
}

/// Silence shows the era only if the server has read the request. One that has not read it is still starting,
/// and would not start faster a second time.
void Instance::wait_until_probe_is_read() {
  patience_.start(kBetweenGlances, [this] {
    const bool starting = channel_->output_unread() && Clock::now() - greeted_ < kOpeningPatience;
    if (starting) return wait_until_probe_is_read();
    wait_for_answer(kProbePatience);
  });
}

void Instance::wait_for_answer(Clock::duration patience) {
  patience_.start(patience, [this] {
    handshake_->give_up("the server did not answer the handshake in time; see its stderr");
    events_.on_opened();
  });
}

void Instance::on_message(const wire::Message& message) {
  if (unannounced_) {  // was read together with the answer to the handshake
    held_.push_back(message.owned());
    return;
  }
  if (message.kind() == wire::Kind::NotJson || message.kind() == wire::Kind::NotRpc) {
    ++counters_.lines_dropped;
    counters_.bytes_dropped += message.text().size();
    // A banner or a log record belongs to no call. A broken answer belongs to one, whose client would wait
    // for it until the call times out.
    std::string id = wire::answered_id(message.text());
    if (!id.empty()) answer_lost({std::move(id), false, described(message)});
    return;
  }
  const auto taken = state_ == State::Opening ? handshake_->take(message) : Handshake::Taken::No;
  if (taken == Handshake::Taken::No) return events_.on_message(message);
  go_on_opening(taken);
}

void Instance::go_on_opening(Handshake::Taken taken) {
  if (taken == Handshake::Taken::AskAgain) return greet();
  patience_.cancel();
  if (handshake_->outcome() == Handshake::Outcome::Ready) {
    state_ = State::Ready;
    if (!handshake_->follow_up().empty()) channel_->send(handshake_->follow_up());
    // A fast server answers before its keeper has reported it. The receiver of `on_opened` may need its pid.
    if (server_pid_ == 0) {
      unannounced_ = true;
      return channel_->pause();
    }
  }
  events_.on_opened();
}

void Instance::on_oversized(const wire::Oversized& oversized) {
  ++counters_.lines_dropped;
  counters_.bytes_dropped += oversized.bytes;
  if (oversized.asks || (!oversized.id.empty() && !oversized.may_answer)) return;
  answer_lost(
      {oversized.id, true,
       "it is " + std::to_string(oversized.bytes) +
           " bytes long, more than the longest allowed line; raise \"line_cap\" in the configuration"});
}

void Instance::answer_lost(const LostAnswer& lost) {
  const auto taken =
      state_ == State::Opening ? handshake_->take_unreadable(lost.id, lost.why) : Handshake::Taken::No;
  if (taken == Handshake::Taken::No) return events_.on_lost_answer(lost);
  go_on_opening(taken);
}

// ---- ending

void Instance::stop(Haste haste) {
  if (state_ == State::Ended || tree_gone_) return;
  if (state_ == State::Opening) patience_.cancel();
  state_ = State::Ending;
  if (haste != Haste::Now) channel_->close_output_when_flushed();
  keeper_.end(haste, channel_->output_open() ? KeeperWatch::Input::HasUnread : KeeperWatch::Input::Closed);
}

/// The server may be about to exit. Its exit status explains more, so there is some time for that.
void Instance::on_input_end() {
  if (state_ == State::Ended || tree_gone_) return;
  if (state_ != State::Ending) stop(Haste::Polite);
  patience_.start(kDeathPatience, [this] { lost("closed its standard output but did not exit"); });
}

void Instance::on_output_lost() {
  if (tree_gone_ || state_ == State::Ended || state_ == State::Ending) return;
  on_input_end();
}

void Instance::lost(const std::string& sentence) {
  patience_.cancel();
  if (std::exchange(lost_, true)) return;
  if (handshake_) handshake_->give_up("the server " + sentence);
  events_.on_server_lost(sentence);
}

void Instance::on_server_started(const keeper::Event& event) {
  server_pid_ = event.server;
  level_ = keeper::level_name(event.level);
  if (entry_.journal != nullptr) entry_.journal->runs(tree_, server_pid_);
  if (!std::exchange(unannounced_, false)) return;
  events_.on_opened();
  for (const wire::Message& message : std::exchange(held_, {})) on_message(message);
  channel_->resume();
}

/// The last messages of the server may take several turns to deliver; until then it has not ended.
void Instance::on_tree_ended(const keeper::Event& event) {
  tree_gone_ = true;
  patience_.cancel();
  const bool failed = event.kind == keeper::Event::Kind::Failed;
  channel_->read_rest([this, failed, ending = ending_of(event, executable_, directory_)] {
    if (failed && handshake_) handshake_->fail("the server " + ending.sentence);
    finish(ending);
  });
}

void Instance::on_keeper_lost(KeeperWatch::Loss loss) {
  tree_gone_ = true;
  patience_.cancel();
  channel_->hand_over_held([this, loss] { finish(ending_without_keeper(loss)); });
}

void Instance::finish(TreeEnd ending) {
  errors_->read_rest();
  ending.error_output = errors_->tail();
  state_ = State::Ended;
  lost(ending.sentence);
  channel_->close();
  events_.on_ended(ending);
}

}  // namespace corral::instance
