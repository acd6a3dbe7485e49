#include "pool/slot.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "instance/lost_keeper.h"
#include "pool/capacity.h"
#include "pool/server_catalog.h"
#include "pool/slot_events.h"
#include "wire/error_codes.h"
#include "wire/json_text.h"

namespace corral::pool {

using instance::Handshake;
using router::LastWords;
using router::Opened;
using router::Router;
using router::SessionPort;

Slot::Slot(SlotId id, SlotContext& context, std::string key, std::shared_ptr<const ServerSpec> spec,
           knowledge::SharingDecision decision)
    : id_(id),
      context_(context),
      key_(std::move(key)),
      spec_(std::move(spec)),
      decision_(std::move(decision)),
      policy_(context.limits.restart),
      delay_(context.loop),
      use_(context.loop),
      drain_(context.loop),
      lessons_(context.catalog) {}

void Slot::apply(Trigger trigger, Clock::duration next_delay) {
  const Next next = pool::next(life_, trigger);
  life_ = next.life;
  switch (next.step) {
    case Step::None: return;
    case Step::Start: return start();
    case Step::Attach: return attach_waiters();
    case Step::Refuse: return refuse_waiters();
    case Step::Drain: return drain();
    case Step::End: return end(run_.haste);
    case Step::Kill: return end(Haste::Now);
    case Step::Delay: return delay(next_delay);
    case Step::Revive: return revive();
  }
}

void Slot::tell(events::Event event) const {
  if (context_.events != nullptr) context_.events->tell(std::move(event));
}

// ---- whose it is

void Slot::redefine(std::shared_ptr<const ServerSpec> spec, const knowledge::SharingDecision& decision) {
  const bool runs = life_ == Life::Starting || life_ == Life::Restarting || life_ == Life::Ready;
  if (runs) return;
  spec_ = std::move(spec);
  decision_ = decision;
}

void Slot::give_to(const SessionPort& port, std::string key, const knowledge::SharingDecision& decision) {
  key_ = std::move(key);
  decision_ = decision;
  spare_ = {{}, {}, true};
  session_ = port.id();
  started_for_ = port.owner();
}

void Slot::add_waiter(SessionPort& port, const std::string& initialize_params) {
  Waiter waiter{.port = &port, .initialize_params = initialize_params};
  if (std::exchange(spare_.given, false)) waiter.way = "spare";
  waiters_.add(std::move(waiter));
}

void Slot::resume() {
  if (is_vacant()) return revive();
  apply(Trigger::Asked);
}

// ---- starting

void Slot::start() {
  const Result<void> started = start_instance();
  if (started) return;
  last_words_ = {started.error().message};
  last_exit_code_ = instance::exit_code_of(started.error());
  waiters_.mark_failed();
  run_.ready_since.reset();
  apply(Trigger::Lost);
  died();
}

Result<void> Slot::start_instance() {
  if (const auto room = context_.owner.make_room(*spec_); !room) return room.error();
  Router::Listener& self = *this;
  auto router = std::make_unique<Router>(context_.loop, router_options(), self, lessons_);
  const instance::JournalEntry entry{context_.journal, spec_->server};
  if (const auto started = router->start(context_.spawner, spec_->launch, context_.line_cap, entry); !started)
    return started.error();
  ++context_.started;
  context_.children.started(router->instance()->keeper());
  router_ = std::move(router);
  run_ = {};
  lessons_.begin(spec_, *router_);
  if (!waiters_.empty()) started_for_ = waiters_.front().port->owner();
  waiters_.mark_spawn();
  tell(started_event(*this));
  router_->open(opening());
  return {};
}

router::RouterOptions Slot::router_options() const {
  return {
      .server = spec_->server,
      .shared = decision_.shared,
      .confirm_read_only = decision_.confirm_annotations,
      .confirm_modern = decision_.confirm_modern,
      .allows_tool = spec_->allows_tool,
      .call_timeout = spec_->call_timeout,
      .probe = spec_->probe,
      .answers_probes = context_.catalog.answers_probes(*spec_),
      .min_version = spec_->min_version,
  };
}

instance::Opening Slot::opening() const {
  instance::Opening opening;
  opening.expected = silent_probe_ ? knowledge::Era::Legacy : context_.catalog.era_of(*spec_);
  opening.pinned = spec_->era.has_value();
  opening.announce = decision_.shared;
  opening.initialize_params = instance::plain_initialize_params();
  if (decision_.shared) return opening;
  if (!spare_.introduction.empty()) opening.initialize_params = spare_.introduction;
  if (!waiters_.empty()) opening.initialize_params = waiters_.front().initialize_params;
  return opening;
}

void Slot::on_error_output(Router& router, std::string_view bytes) {
  if (&router != router_.get()) return;  // it has ended
  if (context_.error_files != nullptr)
    context_.error_files->write(spec_->server, router.instance()->id().text(), bytes);
  if (router.admission().open()) return;  // its sessions hear it themselves
  for (const Waiter& waiter : waiters_) waiter.port->error_output(bytes);
}

void Slot::on_open(Router& router) {
  run_.ready_since = Clock::now();
  silent_probe_ = false;
  lessons_.opened(context_.owner.watch_code(*router.instance()));
  tell(ready_event(*this));
  watch_use(spec_->idle);
  apply(Trigger::Opened);
}

void Slot::attach_waiters() {
  while (life_ == Life::Ready && !waiters_.empty()) {
    const Waiter waiter = waiters_.take_front();
    SessionPort& port = *waiter.port;
    router_->attach(port);
    tell(attached_event(*this, waiter));
    if (!run_.stale.empty() && spec_->on_change == config::OnChange::Warn) {
      port.note("server " + spec_->server + " runs old code: " + run_.stale + "; `corral restart " +
                spec_->server + "` runs the new code");
    }
    port.opened({Opened::Kind::Ready, router_.get(), router_->instance()->handshake().result(), 0, spec_});
  }
}

// ---- what goes wrong

/// A first start that went wrong is told at once; after a death another start may do better.
void Slot::on_unusable(Router& router) {
  const bool first = life_ == Life::Starting;
  if (!first && life_ != Life::Restarting) return;  // it is being ended already
  const Handshake& handshake = router.instance()->handshake();
  run_.cause = Cause::Unfit;
  last_words_ = {"server " + spec_->server + " refused the handshake"};
  if (handshake.outcome() == Handshake::Outcome::NotModern) {
    silent_probe_ = true;  // those who wait go on waiting, for the next one
    return apply(Trigger::Unfit);
  }
  if (!router.admission().objection().empty()) last_words_ = {router.admission().objection()};
  apply(Trigger::Unfit);
  for (const Waiter& waiter : waiters_) run_.left.insert(waiter.port->id());
  if (router.admission().refuted()) {
    context_.catalog.learn_era(*spec_, handshake.era());
    return answer_all(waiters_.take_all(), {Opened::Kind::Again, nullptr, {}});
  }
  if (!first) return;
  if (!router.admission().objection().empty()) return refuse_version(router.admission().objection());
  answer_all(waiters_.take_all(), {Opened::Kind::Refused, nullptr, handshake.error()});
}

void Slot::refuse_version(const std::string& objection) {
  tell(slot_event(*this, events::Kind::Refused, "version", objection));
  answer_all(waiters_.take_all(), {Opened::Kind::Refused, nullptr,
                                   R"({"code":)" + std::to_string(wire::kServerLost) + R"(,"message":)" +
                                       wire::quoted(objection) + "}"});
}

void Slot::on_server_lost(Router& router, const LastWords& why) {
  const bool first = life_ == Life::Starting;
  const bool was_ready = life_ == Life::Ready || life_ == Life::Draining;
  use_.cancel();
  drain_.cancel();
  if (life_ == Life::Ready || life_ == Life::Restarting || first) last_words_ = why;
  if (!run_.ending_since) run_.ending_since = Clock::now();
  // A legacy server may well exit when it is spoken to in the modern way; not so one that we have ended.
  const bool by_itself = first || life_ == Life::Restarting;
  const bool not_modern =
      by_itself && router.instance()->handshake().outcome() == Handshake::Outcome::NotModern;
  silent_probe_ = silent_probe_ || not_modern;
  if (first && !not_modern) waiters_.mark_failed();
  if (life_ == Life::Ready || (by_itself && !not_modern)) tell(crashed_event(*this, why));
  apply(Trigger::Lost);
  if (was_ready) leave_sessions();
}

void Slot::on_hung(Router&) {
  if (life_ == Life::Ready) run_.cause = Cause::Hung;
  apply(Trigger::Hung);
}

void Slot::on_instance_ended(Router& router, const instance::Ending& ending) {
  use_.cancel();
  drain_.cancel();
  if (!ending.keeper_lost) return gone(ending);
  if (const pid_t child = instance::run_terminators_of(router.instance()->tree()))
    context_.children.started(child);
  // Its tree falls to us, and has ended when we have ended it. Until then the slot stays taken.
  context_.children.end_orphans_of(router.instance()->keeper(),
                                   [&owner = context_.owner, id = id_, ending](bool proved) {
                                     instance::Ending now = ending;
                                     now.proved_empty = proved;
                                     if (Slot* const slot = owner.find(id)) slot->gone(now);
                                   });
}

void Slot::gone(const instance::Ending& ending) {
  Router& router = *router_;
  const Clock::time_point now = Clock::now();
  const InstanceEnd gone{
      spec_->server,
      router.instance()->id(),
      router.instance()->server_pid(),
      run_.cause,
      ending,
      std::chrono::duration_cast<std::chrono::milliseconds>(now - run_.ending_since.value_or(now))};
  if (context_.journal != nullptr && ending.proved_empty)
    context_.journal->ended(gone.instance.text(), cause_name(gone.cause));
  if (context_.error_files != nullptr) context_.error_files->ended(gone.server, gone.instance.text());
  for (events::Event& event : ended_events(gone)) tell(std::move(event));
  if (!ending.proved_empty && !started_for_.empty()) context_.owner.ended_unproved(started_for_, gone);
  last_exit_code_ = ending.exit_code;
  for (const SessionId session : router.sessions().ids()) {
    SessionPort* const port = router.sessions().find(session);
    if (port == nullptr) continue;  // it left when another one heard of it
    router.detach(*port);
    port->instance_ended(ending);
  }
  context_.owner.dispose(std::move(router_));
  for (const WhenGone& task : std::exchange(when_gone_, {})) task(gone);
  died();
}

/// Also called for one that could not even be started.
void Slot::died() {
  if (life_ != Life::Dying) return apply(Trigger::Gone);
  const Clock::duration lived = run_.ready_since ? Clock::now() - *run_.ready_since : Clock::duration::zero();
  const auto again = policy_.died(lived, std::uniform_real_distribution<double>(0, 1)(context_.random));
  if (!again) return apply(Trigger::GoneTooOften);
  apply(Trigger::Gone, *again);
}

void Slot::delay(Clock::duration delay) {
  if (waiters_.empty()) return apply(Trigger::Unused);
  if (delay.count() > 0) {
    log_line("server " + spec_->server + ": the next start is in " +
             std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(delay).count()) + " ms");
  }
  delay_.start(delay, [this] { apply(Trigger::DelayOver); });
}

void Slot::refuse_waiters() {
  LastWords why = last_words_;
  const bool broken = life_ == Life::Broken;
  if (broken) {
    const std::string often = "server " + spec_->server + " died " + std::to_string(policy_.deaths()) +
                              " times in a row and is not started again for now; `corral restart " +
                              spec_->server + "` tries at once. At last: ";
    why.sentence.insert(0, often);
    if (!delay_.running()) {
      tell(slot_event(*this, events::Kind::Broken, "died-too-often", why.for_log()));
      delay_.start(policy_.rules().rest, [this] { allow(); });
    }
  }
  for (const Waiter& waiter : broken ? waiters_.take_all() : waiters_.take_failed()) {
    waiter.port->opened({Opened::Kind::Failed, nullptr, why.to(waiter.port->id()), last_exit_code_});
  }
  if (!broken) revive();
}

// ---- ending

void Slot::drain() {
  use_.cancel();
  // One that is only too large may finish its work, however long that takes.
  const Clock::duration patience =
      run_.cause == Cause::Recycled ? spec_->call_timeout : context_.limits.drain;
  drain_.start(patience, [this] { apply(Trigger::Drained); });
  router_->drain();
}

void Slot::on_calls_finished(Router& router) {
  if (&router != router_.get()) return;  // it has ended meanwhile
  drain_.cancel();
  apply(Trigger::Drained);
}

/// Every instance that we end comes through here.
void Slot::end(Haste haste) {
  use_.cancel();
  drain_.cancel();
  run_.ending_since = Clock::now();
  tell(stopping_event(*this));
  leave_sessions();
  router_->stop(haste);
}

/// The sessions go on without it, and whatever they wait for is answered.
void Slot::leave_sessions() {
  const bool died = run_.cause == Cause::Died;
  const LastWords why =
      died ? last_words_ : LastWords{"server " + spec_->server + " " + sentence_for(run_.cause)};
  last_words_ = why;
  const bool failed = died || run_.cause == Cause::Hung;
  router_->questions().take_back();
  for (const SessionId session : router_->sessions().ids()) {
    SessionPort* const port = router_->sessions().find(session);
    if (port == nullptr) continue;                                  // it left when another one heard of it
    if (failed && (!spec_->restart || !port->may_ask())) continue;  // it ends with its server
    router_->give_up_calls(*port, wire::kServerLost, why.to(session));
    router_->detach(*port);
    run_.left.insert(session);
    port->instance_left(departure_for(run_.cause), why.to(session));
  }
}

void Slot::revive() {
  if (!waiters_.empty()) return apply(Trigger::Asked);
  context_.owner.slot_unused(id_);
}

void Slot::end_unused(Cause cause) {
  run_.cause = cause;
  apply(Trigger::Unused);
}

void Slot::stop(Haste haste) {
  run_.haste = haste;
  if (router_ && is_ending()) return router_->stop(haste);
  end_unused(Cause::ShuttingDown);
}

// ---- sessions that leave

bool Slot::leave(SessionPort& port, bool with_owner) {
  waiters_.remove(port);
  if (router_) router_->detach(port);
  const bool alone = is_unused();
  if (!alone) hand_on();
  const bool its_own = with_owner && alone && started_for_ == port.owner();
  if (!decision_.shared || its_own) return false;
  if (alone && life_ == Life::Waiting) apply(Trigger::Unused);
  if (alone) watch_use(run_.stale.empty() ? spec_->idle : Clock::duration::zero());
  return true;
}

bool Slot::end_with(SessionId session, Haste haste, WhenGone task) {
  run_.left_by = session;
  run_.haste = haste;
  if (!is_ending() && life_ != Life::Draining) run_.cause = Cause::SessionEnded;
  const bool lives = router_ != nullptr;
  if (lives && task) when_gone(std::move(task));
  if (lives && is_ending()) router_->stop(haste);
  apply(Trigger::Unused);
  return lives;
}

bool Slot::end_with_owner(const WhenGone& task) {
  if (!is_ending() && !is_unused()) {  // others have joined
    hand_on();
    return false;
  }
  when_gone(task);
  if (is_ending()) return true;
  if (life_ != Life::Draining) run_.cause = Cause::SessionEnded;
  apply(Trigger::Unused);
  return true;
}

/// A shared instance goes with the last session object that uses it: the one that started it may leave
/// before.
void Slot::hand_on() {
  std::vector<const SessionPort*> users;
  if (router_) {
    for (const auto& [id, port] : router_->sessions()) users.push_back(port);
  }
  for (const Waiter& waiter : waiters_) users.push_back(waiter.port);
  const auto used_by = [&users](const std::string& owner) {
    return std::any_of(users.begin(), users.end(),
                       [&owner](const SessionPort* user) { return user->owner() == owner; });
  };
  if (users.empty() || started_for_.empty() || used_by(started_for_)) return;
  // One that nobody may end is there for good, or until it is idle.
  started_for_ = used_by("") ? "" : users.front()->owner();
}

// ---- on the user's word

void Slot::retire(Cause cause, const WhenGone& task) {
  if (router_) {
    when_gone(task);
    if (!is_ending()) run_.cause = cause;
  }
  policy_.forgive();
  // A session that waits for the old definition, or in vain, must not start it again.
  std::deque<Waiter> refused;
  if (cause != Cause::Restarted) refused = waiters_.take_all();
  for (const Waiter& waiter : refused) run_.left.insert(waiter.port->id());
  apply(Trigger::Retired);
  answer_all(refused, {cause == Cause::Stopped ? Opened::Kind::Failed : Opened::Kind::Again, nullptr,
                       "server " + spec_->server + " was stopped with `corral stop`"});
}

void Slot::recycle(const std::string& why) {
  run_.cause = Cause::Recycled;
  tell(slot_event(*this, events::Kind::Finding, "memory", why));
  apply(Trigger::Retired);
}

bool Slot::allow() {
  const bool held = life_ == Life::Broken || life_ == Life::Waiting;
  policy_.forgive();
  apply(Trigger::Rested);
  return held;
}

// ---- how long it is used

void Slot::mark_stale(const std::string& changed) {
  run_.stale = changed;
  lessons_.mark_outdated();
  const bool roll = spec_->on_change == config::OnChange::Roll;
  const std::string& instance = router_->instance()->id().text();
  tell(slot_event(*this, events::Kind::Stale, roll ? "roll" : "warn",
                  "instance " + instance.substr(0, 8) + " of server " + spec_->server +
                      " is out of date: " + changed +
                      (roll ? "; new sessions get a new one" : "; `corral restart` runs the new code")));
  context_.catalog.forget_old_build(*spec_);
  if (!roll) return;
  if (decision_.shared) key_ += "\nbefore " + instance;
  if (is_unused()) end_unused(Cause::Outdated);
}

void Slot::watch_use(Clock::duration after) {
  use_.start(after, [this] { look_at_use(); });
}

void Slot::look_at_use() {
  if (life_ != Life::Ready) return;
  const Clock::duration idle = spec_->idle;
  const Router::Activity activity = router_->activity();
  const Clock::duration unused = Clock::now() - activity.last_used;
  const bool alone = router_->sessions().empty();
  constexpr Clock::duration kNotSooner = std::chrono::seconds(1);
  if (alone && !run_.stale.empty() && spec_->on_change == config::OnChange::Roll)
    return end_unused(Cause::Outdated);
  const bool needed = activity.in_use || (!alone && !may_park(*spec_, context_.catalog));
  if (needed) return watch_use(std::max(idle, kNotSooner));
  if (unused < idle) return watch_use(idle - unused);
  end_unused(alone ? Cause::Idle : Cause::Parked);
}

}  // namespace corral::pool
