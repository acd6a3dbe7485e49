#include "pool/slot.h"

#include <utility>

#include "base/text.h"
#include "instance/lost_keeper.h"
#include "pool/server_catalog.h"
#include "pool/slot_events.h"
#include "proc/command_lookup.h"
#include "wire/error_codes.h"
#include "wire/json_text.h"

namespace corral::pool {

using instance::Handshake;
using router::LastWords;
using router::Opened;
using router::Router;
using router::SessionPort;

namespace {

/// What is not in the message that a model reads, because it is long and differs from window to window.
std::string long_form(const Slot& slot, const Error& error) {
  if (error.kind != Error::Kind::NotFound) return "";
  const std::string_view path = proc::environment_value(slot.spec().launch.environment, "PATH");
  return path.empty() ? "its PATH is not set\n" : "its PATH is " + printable(path) + "\n";
}

/// There is no process, so this is all that anybody finds later: in events, in `ps` and in the server's log.
void tell_failed_start(const Slot& slot, const SlotContext& context, const Error& error) {
  const std::string& server = slot.spec().server;
  context.tell(slot_event(slot, events::Kind::Failed, "start",
                          "server " + server + " could not be started: " + error.message));
  if (context.error_files != nullptr) {
    context.error_files->write(server, "corral",
                               "could not be started: " + error.message + "\n" + long_form(slot, error));
  }
}

/// Tells the user once for each server why it is private, and how to change that: of one that has started,
/// because beside the reason of a failure it would only distract.
void advise(SessionPort& port, const ServerSpec& spec, const knowledge::SharingDecision& decision,
            ServerCatalog& catalog) {
  if (decision.shared || decision.hint.empty() || !port.wants_advice()) return;
  if (catalog.hint_once(spec)) port.note(decision.reason + "; " + decision.hint);
}

}  // namespace

Slot::Slot(SlotId id, SlotContext& context, std::string key, std::shared_ptr<const ServerSpec> spec,
           knowledge::SharingDecision decision, Holder holder)
    : id_(id),
      context_(context),
      key_(std::move(key)),
      spec_(std::move(spec)),
      decision_(std::move(decision)),
      holder_(std::move(holder)),
      restarts_(context.loop, context.limits.restart, context.random),
      use_(context.loop, *this, context.catalog),
      lessons_(context.catalog),
      run_(context.loop) {}

void Slot::apply(Trigger trigger) {
  const bool dead = life_ == Life::Dying && trigger == Trigger::Ended;
  if (dead && !restarts_.note_death(run_.time_ready())) trigger = Trigger::DiedTooOften;
  const Next next = pool::next(life_, trigger);
  life_ = next.life;
  switch (next.step) {
    case Step::None: return;
    case Step::Start: return start();
    case Step::Attach: return attach_waiters();
    case Step::Refuse: return refuse_waiters();
    case Step::Drain: return drain();
    case Step::End: return end(run_.haste());
    case Step::Kill: return end(Haste::Now);
    case Step::Delay:
      if (waiters_.empty()) return apply(Trigger::Unused);
      return restarts_.wait(spec_->server, [this] { apply(Trigger::DelayOver); });
    case Step::Revive: return resume();
  }
}

// ---- its definition

void Slot::redefine(std::shared_ptr<const ServerSpec> spec, const knowledge::SharingDecision& decision) {
  const bool runs = life_ == Life::Starting || life_ == Life::Restarting || life_ == Life::Ready;
  if (runs) return;
  spec_ = std::move(spec);
  decision_ = decision;
}

void Slot::give_to(const SessionPort& port, std::string key, const knowledge::SharingDecision& decision) {
  key_ = std::move(key);
  decision_ = decision;
  holder_.give_to(port);
}

void Slot::add_waiter(SessionPort& port, const std::string& initialize_params) {
  Waiter waiter{.port = &port, .initialize_params = initialize_params};
  if (holder_.take_given()) waiter.way = events::Cause::Spare;
  waiters_.add(std::move(waiter));
}

void Slot::resume() {
  if (is_vacant()) return context_.owner.slot_unused(id_);
  apply(Trigger::Asked);
}

// ---- starting

void Slot::start() {
  if (const auto started = run_.start(context_, *spec_, decision_, *this, lessons_); !started) {
    tell_failed_start(*this, context_, started.error());
    run_.fail_to_start(started.error());
    waiters_.mark_failed();
    apply(Trigger::Lost);
    return apply(Trigger::Ended);
  }
  lessons_.begin(spec_, *run_.router());
  holder_.started_for(waiters_);
  waiters_.mark_spawn();
  context_.tell(started_event(*this));
  run_.router()->open(
      opening_for(*spec_, decision_, silent_probe_ ? knowledge::Era::Legacy : context_.catalog.era_of(*spec_),
                  waiters_.empty() ? holder_.introduction() : waiters_.front().initialize_params));
}

void Slot::on_error_output(Router& router, std::string_view bytes) {
  if (&router != run_.router()) return;  // an earlier instance
  if (context_.error_files != nullptr)
    context_.error_files->write(spec_->server, router.instance()->id().text(), bytes);
  if (router.admission().open()) return;  // its router passes it to its sessions
  for (const Waiter& waiter : waiters_) waiter.port->error_output(bytes);
}

void Slot::on_open(Router& router) {
  run_.opened();
  silent_probe_ = false;
  lessons_.opened(context_.owner.watch_code(*router.instance()));
  context_.tell(ready_event(*this));
  use_.look_in(spec_->entry.idle);
  apply(Trigger::Opened);
}

void Slot::attach_waiters() {
  while (life_ == Life::Ready && !waiters_.empty()) {
    const Waiter waiter = waiters_.take_front();
    SessionPort& port = *waiter.port;
    Router& router = *run_.router();
    router.attach(port);
    context_.tell(attached_event(*this, waiter));
    if (!run_.stale().empty() && spec_->entry.on_change == config::OnChange::Warn) {
      port.note("server " + spec_->server + " runs old code: " + run_.stale() + "; `corral restart " +
                spec_->server + "` runs the new code");
    }
    advise(port, *spec_, decision_, context_.catalog);
    port.opened({Opened::Kind::Ready, &router, router.instance()->handshake().result(), 0, spec_});
  }
}

// ---- failures

/// A failed first start is reported at once; after a death, another start may succeed.
void Slot::on_unusable(Router& router) {
  const bool first = life_ == Life::Starting;
  if (!first && life_ != Life::Restarting) return;  // it is ending already
  const Handshake& handshake = router.instance()->handshake();
  const std::string& objection = router.admission().objection();
  run_.set_cause(Cause::Unfit);
  run_.set_last_words({objection.empty() ? "server " + spec_->server + " refused the handshake" : objection});
  if (handshake.outcome() == Handshake::Outcome::NotModern) {
    silent_probe_ = true;  // the sessions keep waiting, for the next instance
    return apply(Trigger::Unfit);
  }
  const bool told = !first || router.admission().contradicts() || !objection.empty();
  const std::string& written = router.instance()->error_tail();
  if (!told) {
    context_.tell(slot_event(*this, events::Kind::Failed, "handshake", run_.last_words().sentence, written));
  }
  apply(Trigger::Unfit);
  run_.lose(waiters_.sessions());
  Opened answer{Opened::Kind::Refused, nullptr, handshake.error()};
  if (router.admission().contradicts()) {
    context_.catalog.learn_era(*spec_, handshake.era());
    answer = {Opened::Kind::Again, nullptr, {}};
  } else if (!first) {
    return;
  } else if (!objection.empty()) {
    context_.tell(slot_event(*this, events::Kind::Refused, "version", objection, written));
    answer.text = wire::error_object(wire::kServerLost, objection);
  }
  waiters_.answer(waiters_.dismiss_all(), [&answer](SessionId) { return answer; });
}

void Slot::on_server_lost(Router& router, const LastWords& why) {
  const bool first = life_ == Life::Starting;
  const bool was_ready = life_ == Life::Ready || life_ == Life::Draining;
  use_.stop();
  run_.note_ending();
  if (life_ == Life::Ready || life_ == Life::Restarting || first) run_.set_last_words(why);
  // A legacy server may exit when it receives a modern request. An instance that corral ends proves nothing.
  const bool by_itself = first || life_ == Life::Restarting;
  const bool not_modern =
      by_itself && router.instance()->handshake().outcome() == Handshake::Outcome::NotModern;
  silent_probe_ = silent_probe_ || not_modern;
  if (first && !not_modern) waiters_.mark_failed();
  if (life_ == Life::Ready || (by_itself && !not_modern)) context_.tell(crashed_event(*this, why));
  apply(Trigger::Lost);
  if (was_ready) run_.detach_sessions(*spec_);
}

void Slot::on_hung(Router&) {
  if (life_ == Life::Ready) run_.set_cause(Cause::Hung);
  apply(Trigger::Hung);
}

void Slot::on_instance_ended(Router& router, const instance::TreeEnd& ending) {
  use_.stop();
  run_.drained();
  if (!ending.keeper_lost) return finish(ending);
  if (const pid_t child = instance::run_terminators_of(router.instance()->tree()))
    context_.children.started(child);
  using Tree = instance::Children::Tree;
  // The daemon inherits the processes of a lost keeper and ends them. Until then the slot stays in use.
  context_.children.end_orphans_of(router.instance()->keeper(),
                                   [&owner = context_.owner, id = id_, ending](Tree tree) {
                                     instance::TreeEnd now = ending;
                                     now.proved_empty = tree == Tree::ProvedGone;
                                     if (Slot* const slot = owner.find(id)) slot->finish(now);
                                   });
}

void Slot::finish(const instance::TreeEnd& ending) {
  const InstanceEnd ended = run_.finish(spec_->server, ending);
  if (context_.journal != nullptr && ending.proved_empty)
    context_.journal->ended(ended.instance.text(), cause_name(ended.cause));
  if (context_.error_files != nullptr) context_.error_files->ended(ended.server, ended.instance.text());
  for (events::Event& event : ended_events(ended)) context_.tell(std::move(event));
  const std::string& object = holder_.object();
  if (!ending.proved_empty && !object.empty()) context_.owner.ended_unproved(object, ended);
  context_.owner.dispose(run_.close(ending));
  for (const WhenEnded& task : run_.take_tasks()) task(ended);
  apply(Trigger::Ended);
}

void Slot::refuse_waiters() {
  LastWords why = run_.last_words();
  const int exit_code = run_.exit_code();
  const bool broken = life_ == Life::Broken;
  if (broken) {
    const std::string often = "server " + spec_->server + " died " + std::to_string(restarts_.deaths()) +
                              " times in a row and is not started again for now; `corral restart " +
                              spec_->server + "` tries at once. Last error: ";
    why.sentence.insert(0, often);
    if (restarts_.rest([this] { allow(); }))
      context_.tell(slot_event(*this, events::Kind::Broken, "died-too-often", why.sentence, why.stderr_end));
  }
  waiters_.answer(broken ? waiters_.dismiss_all() : waiters_.dismiss_failed(), [&](SessionId session) {
    return Opened{Opened::Kind::Failed, nullptr, why.to(session), exit_code};
  });
  if (!broken) resume();
}

// ---- ending

void Slot::drain() {
  use_.stop();
  // An instance that only uses too much memory may finish its calls.
  const bool recycled = run_.cause() == Cause::Recycled;
  run_.drain(recycled ? call_timeout(*spec_) : context_.limits.drain, [this] { apply(Trigger::Drained); });
}

void Slot::on_calls_finished(Router& router) {
  if (&router != run_.router()) return;  // it has ended since
  run_.drained();
  apply(Trigger::Drained);
}

/// Every instance that corral ends passes through this function.
void Slot::end(Haste haste) {
  use_.stop();
  run_.note_ending();
  context_.tell(stopping_event(*this));
  run_.detach_sessions(*spec_);
  run_.stop(haste);
}

void Slot::end_unused(Cause cause) {
  run_.set_cause(cause);
  apply(Trigger::Unused);
}

void Slot::stop(Haste haste) {
  run_.set_haste(haste);
  if (is_ending(life_)) return run_.stop(haste);
  end_unused(Cause::ShuttingDown);
}

// ---- sessions that leave

Slot::Left Slot::leave(SessionPort& port, Ends ends, Haste haste, WhenEnded when_ended) {
  waiters_.remove(port);
  if (run_.router() != nullptr) run_.router()->detach(port);
  const bool alone = is_unused();
  if (!alone) holder_.hand_on(router(), waiters_);
  const bool its_own = ends == Ends::SessionObject && alone && holder_.object() == port.owner();
  if (decision_.shared && !its_own) {
    if (alone && life_ == Life::Waiting) apply(Trigger::Unused);
    if (alone) use_.look_in(run_.stale().empty() ? spec_->entry.idle : Clock::duration::zero());
    return Left::Stays;
  }
  run_.end_with(port.id(), haste);
  if (!is_ending(life_) && life_ != Life::Draining) run_.set_cause(Cause::SessionEnded);
  const bool lives = router() != nullptr;
  if (lives && when_ended) run_.when_ended(std::move(when_ended));
  if (is_ending(life_)) run_.stop(haste);
  apply(Trigger::Unused);
  return lives ? Left::Ends : Left::HadNone;
}

bool Slot::end_with_owner(const WhenEnded& task) {
  if (!is_ending(life_) && !is_unused()) {  // other sessions use it
    holder_.hand_on(router(), waiters_);
    return false;
  }
  when_ended(task);
  if (is_ending(life_)) return true;
  if (life_ != Life::Draining) run_.set_cause(Cause::SessionEnded);
  apply(Trigger::Unused);
  return true;
}

// ---- at the user's request

bool Slot::retire(Cause cause, const WhenEnded& task) {
  const bool lives = router() != nullptr;
  if (lives && task) when_ended(task);
  if (lives && !is_ending(life_)) run_.set_cause(cause);
  if (cause != Cause::Recycled) restarts_.forgive();
  // Sessions that wait for the old definition, or for a stopped server, must not start it again. After a
  // restart or a recycling the definition is the same, so they go on waiting.
  std::vector<SessionId> refused;
  if (cause != Cause::Restarted && cause != Cause::Recycled) refused = waiters_.dismiss_all();
  run_.lose(refused);
  apply(Trigger::Retired);
  Opened answer{cause == Cause::Stopped ? Opened::Kind::Failed : Opened::Kind::Again, nullptr,
                "server " + spec_->server + " was stopped with `corral stop`"};
  waiters_.answer(refused, [&answer](SessionId) { return answer; });
  // Its waiters waited for the instance of another slot; when that one is gone, no one asks this slot again.
  if (is_vacant()) context_.owner.slot_unused(id_);
  return lives;
}

bool Slot::allow() {
  const bool held = life_ == Life::Broken || life_ == Life::Waiting;
  restarts_.forgive();
  apply(Trigger::Rested);
  return held;
}

// ---- changed code

void Slot::mark_stale(const std::string& changed) {
  run_.mark_stale(changed);
  lessons_.mark_outdated();
  const bool roll = spec_->entry.on_change == config::OnChange::Roll;
  const std::string& instance = router()->instance()->id().text();
  context_.tell(slot_event(
      *this, events::Kind::Stale, roll ? "roll" : "warn",
      "instance " + instance.substr(0, 8) + " of server " + spec_->server + " is out of date: " + changed +
          (roll ? "; new sessions get a new one" : "; `corral restart` runs the new code")));
  context_.catalog.forget_old_build(*spec_);
  if (!roll) return;
  if (decision_.shared) key_ += "\nbefore " + instance;
  if (is_unused()) end_unused(Cause::Outdated);
}

}  // namespace corral::pool
