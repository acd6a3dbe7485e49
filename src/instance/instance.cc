#include "instance/instance.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "base/log.h"
#include "keeper/plan.h"
#include "keeper/report.h"
#include "proc/plan_bytes.h"
#include "proc/start_failure.h"
#include "wire/oversized_line.h"

namespace corral::instance {
namespace {

// A server that does not know server/discover may also be one that stays silent about it.
constexpr std::chrono::seconds kProbePatience{3};
constexpr std::chrono::milliseconds kBetweenGlances{250};  // at whether it has read the question
// Longer than any client waits; a cold start from a package registry takes its time.
constexpr std::chrono::seconds kOpeningPatience{180};
// For what is still queued when the end begins.
constexpr std::chrono::seconds kDeafPatience{2};
// From the end of its output to its death, which tells more.
constexpr std::chrono::seconds kDeathPatience{3};
// For a keeper on a busy machine, beyond all that its plan allows; and from SIGKILL to its end.
constexpr std::chrono::seconds kKeeperMargin{3};
constexpr std::chrono::seconds kKeeperDeath{2};

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return Error{std::string("could not make a pipe for the server: ") + strerror(errno) +
                 "; raise the limit of open files (ulimit -n)"};
  }
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

std::string describe_status(int status) {
  if (WIFSIGNALED(status)) {
    const char* name = sigabbrev_np(WTERMSIG(status));
    return "was ended by SIG" + std::string(name != nullptr ? name : std::to_string(WTERMSIG(status)));
  }
  return "exited with code " + std::to_string(WEXITSTATUS(status));
}

/// A spawn that fails after it was written down has made nothing that could be left.
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

/// What is wrong with a line.
std::string described(const wire::Message& message) {
  return (message.kind() == wire::Kind::NotJson ? "it is not strict JSON: " : "it is not JSON-RPC 2.0: ") +
         std::string(message.fault()) + " at byte " + std::to_string(message.fault_at());
}

int shell_code(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

}  // namespace

int exit_code_of(const Error& error) {
  switch (error.kind) {
    case Error::Kind::NotFound: return 127;
    case Error::Kind::NotExecutable: return 126;
    case Error::Kind::Failure: break;
  }
  return 125;
}

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

  std::unique_ptr<Instance> instance(new Instance(loop, std::move(*tree), events));
  instance->entry_ = std::move(entry);
  instance->executable_ = spec.argv.front();
  instance->input_inode_ = pipe_status.st_ino;
  instance->directory_ = spec.directory;
  instance->channel_ = make_channel(loop, std::move(output->read), std::move(input->write), line_cap,
                                    *instance, "server-messages");
  instance->errors_ = std::make_unique<ErrorOutput>(
      loop, std::move(errors->read),
      [events = &events](std::string_view bytes) { events->on_error_output(bytes); });
  instance->channel_->resume();
  instance->wait_for_keeper();
  return instance;
}

Instance::Instance(Loop& loop, proc::ProcessTree tree, Events& events)
    : events_(events),
      tree_(std::move(tree)),
      id_(tree_.instance()),
      keeper_watch_(loop, tree_.events()),
      deaf_(loop),
      keeper_clock_(loop),
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

/// Silence tells the era only of a server that has read the question; one that has not is still starting, and
/// would start no faster a second time.
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
  if (unannounced_) {  // was read together with the answer
    held_.push_back(message.owned());
    return;
  }
  if (message.kind() == wire::Kind::NotJson || message.kind() == wire::Kind::NotRpc) {
    ++counters_.lines_dropped;
    counters_.bytes_dropped += message.text().size();
    // A banner or a record of a log is nobody's; half an answer is somebody's, who would wait for it until
    // his patience ends.
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
    // A quick server answers before its keeper has told us of it. Whoever hears that it is open may ask for
    // its pid.
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
  answer_lost({oversized.id, true,
               "it has " + std::to_string(oversized.bytes) +
                   " bytes, more than a line may have; raise \"line_cap\" in the configuration"});
}

void Instance::answer_lost(const LostAnswer& lost) {
  const auto taken =
      state_ == State::Opening ? handshake_->take_unreadable(lost.id, lost.why) : Handshake::Taken::No;
  if (taken == Handshake::Taken::No) return events_.on_lost_answer(lost);
  go_on_opening(taken);
}

void Instance::on_output_drained() { events_.on_drained(); }

// ---- ending

void Instance::stop(Haste haste) {
  if (state_ == State::Ended || tree_gone_) return;
  if (state_ == State::Opening) patience_.cancel();
  state_ = State::Ending;
  switch (haste) {
    case Haste::Polite:
      channel_->close_output_when_flushed();
      // A server that does not read would never see the end of its input.
      if (channel_->output_open()) deaf_.start(kDeafPatience, [this] { tree_.stop(keeper::Reason::Signal); });
      break;
    case Haste::ClientGone:
      channel_->close_output_when_flushed();
      tree_.stop(keeper::Reason::ClientGone);
      break;
    case Haste::Now: tree_.stop(keeper::Reason::Signal); break;
  }
  bound_end(haste);
}

/// A keeper that does not run (stopped again and again, held by a debugger) must not hold up the end. A
/// hastier request shortens its time, another one of the same haste does not prolong it.
void Instance::bound_end(Haste haste) {
  std::vector<char*> pointers;
  const keeper::PlanHeader header = proc::read_plan(tree_.plan(), pointers).header;
  Clock::duration at_most = keeper::longest_end(header) + kKeeperMargin;
  if (haste == Haste::Polite)
    at_most += header.graces.stdin_closed + header.graces.unread_cap + kDeafPatience;
  const Clock::time_point until = Clock::now() + at_most;
  if (keeper_until_ && *keeper_until_ <= until) return;
  keeper_until_ = until;
  keeper_clock_.start(at_most, [this] { replace_keeper(); });
}

/// Whoever watches our children does its work. Its life line tells of its death, unless a copy of it is held
/// by a child that hangs in the kernel.
void Instance::replace_keeper() {
  log_line("the keeper (pid " + std::to_string(keeper()) + ") of " + executable_ +
           " does not get on; ending it and what it kept");
  keeper_too_slow_ = true;
  tree_.kill_keeper();
  keeper_clock_.start(kKeeperDeath, [this] { keeper_lost(); });
}

/// It may be dying: its exit status would tell more, so that gets a moment.
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
  events_.on_lost(sentence);
}

void Instance::wait_for_keeper() {
  keeper_watch_.when_readable([this] { read_keeper(); });
}

void Instance::read_keeper() {
  const keeper::Event* event = tree_.take_event();
  if (event == nullptr) return keeper_lost();
  if (event->kind == keeper::Event::Kind::Started) {
    server_pid_ = event->server;
    level_ = keeper::level_name(event->level);
    if (entry_.journal != nullptr) entry_.journal->runs(tree_, server_pid_);
    wait_for_keeper();
    if (!std::exchange(unannounced_, false)) return;
    events_.on_opened();
    for (const wire::Message& message : std::exchange(held_, {})) on_message(message);
    return channel_->resume();
  }
  tree_gone_ = true;
  stop_clocks();
  channel_->read_rest([this, last = *event] { ended(last); });
}

/// Nobody waits for the end any more. What the server said last may take several turns to hand over; until
/// that is done it has not ended.
void Instance::stop_clocks() {
  deaf_.cancel();
  keeper_clock_.cancel();
  keeper_watch_.cancel();
  patience_.cancel();
}

void Instance::ended(const keeper::Event& event) {
  errors_->read_rest();
  Ending ending;
  ending.error_output = errors_->tail();
  ending.proved_empty = event.report.proved_empty;
  ending.ended_processes = event.report.ended_total;
  for (std::uint32_t i = 0; i < std::min<std::uint32_t>(event.report.survivors, keeper::kListedSurvivors);
       ++i) {
    const keeper::Survivor& survivor = event.report.survivor[i];
    ending.survivors.push_back({survivor.pid, survivor.comm, keeper::cause_name(survivor.cause)});
  }
  if (event.kind == keeper::Event::Kind::Failed) {
    const Error error = proc::explain_start_failure(event, executable_, directory_);
    ending.sentence = "could not be started: " + error.message;
    if (handshake_) handshake_->fail("the server " + ending.sentence);
    ending.exit_code = exit_code_of(error);
  } else if (event.report.server_status_known) {
    ending.sentence = describe_status(event.report.server_status);
    ending.exit_code = shell_code(event.report.server_status);
  } else {
    ending.sentence = "ended";
  }
  finish(ending);
}

/// The keeper was killed. What it held has fallen to us, and whoever watches our children ends it.
void Instance::keeper_lost() {
  tree_gone_ = true;
  stop_clocks();
  channel_->hand_over_held([this] { ended_without_keeper(); });
}

void Instance::ended_without_keeper() {
  errors_->read_rest();
  Ending ending;
  ending.sentence = keeper_too_slow_ ? "lost its keeper, which did not end it in time and was killed"
                                     : "lost its keeper, which somebody killed";
  ending.error_output = errors_->tail();
  ending.exit_code = 125;
  ending.keeper_lost = true;
  finish(ending);
}

void Instance::finish(const Ending& ending) {
  stop_clocks();
  state_ = State::Ended;
  lost(ending.sentence);
  channel_->close();
  events_.on_ended(ending);
}

}  // namespace corral::instance
