#include "daemon/unattended_watch.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "base/units.h"
#include "config/show.h"
#include "pool/slot_events.h"
#include "proc/identity.h"

namespace corral::daemon {
namespace {

using survey::Attendance;
using By = ClientBackground::By;

constexpr std::chrono::seconds kFirstLook{2};  // one look for all sessions of a client that starts
constexpr std::chrono::seconds kMostOften{1};
constexpr std::chrono::seconds kMostRarely{10};
constexpr int kLooksPerTime = 4;

/// The client's own process. A shim in another PID namespace names it by a number that means nothing here.
pid_t process_of(const ConnectedSession& connected) {
  if (!connected.stdio) return connected.bound;
  const int process = connected.stdio->client_process();
  return process < 0 ? 0 : std::max(proc::pid_behind(process), 0);
}

std::string show(Clock::duration time) {
  return show_age(std::chrono::duration_cast<std::chrono::milliseconds>(time));
}

}  // namespace

UnattendedWatch::UnattendedWatch(Loop& loop, const Parts& parts, Read read)
    : parts_(parts), read_(std::move(read)), timer_(loop) {
  parts_.events.listen(lifetime_.guard([this](const events::Event& event) {
    if (event.kind == events::Kind::Reload) return look_in(kFirstLook);
    if (event.kind != events::Kind::Attach) return;
    const ConnectedSession* const connected = parts_.sessions.find(SessionId(event.session));
    if (connected != nullptr && connected->background.by != By::Other) look_in(kFirstLook);
  }));
}

// ---- looking

void UnattendedWatch::look_in(Clock::duration after) {
  const Clock::time_point then = Clock::now() + after;
  if (timer_.running() && next_look_ <= then) return;
  next_look_ = then;
  timer_.start(after, [this] { look(); });
}

bool UnattendedWatch::is_watched(const ConnectedSession& connected) const {
  const session::Session& session = connected.session();
  if (connected.background.by == By::Other || session.ended()) return false;
  if (session.attachment().router() == nullptr) return false;
  return rule_for(*session.attachment().spec()).after() != Clock::duration::zero();
}

void UnattendedWatch::look() {
  again_ = reading_;
  if (reading_) return;
  std::vector<SessionId> sessions;
  std::vector<pid_t> pids;
  for (auto& [id, connected] : parts_.sessions) {
    if (!is_watched(connected)) {
      connected.background.unattended_since.reset();  // nobody looks, so nothing is known
      continue;
    }
    const pid_t pid = process_of(connected);
    if (pid == 0 && connected.background.by == By::Unknown) connected.background.by = By::Other;
    if (pid == 0) continue;
    sessions.push_back(id);
    pids.push_back(pid);
  }
  if (sessions.empty()) return;
  reading_ = true;
  read_(std::move(pids), lifetime_.guard([this, sessions](const std::vector<survey::Background>& found) {
    reading_ = false;
    hear(sessions, found);
    judge();
    look_later();
    if (again_) look_in(kFirstLook);
  }));
}

void UnattendedWatch::hear(const std::vector<SessionId>& sessions,
                           const std::vector<survey::Background>& found) {
  for (std::size_t i = 0; i < sessions.size() && i < found.size(); ++i) {
    ConnectedSession* const connected = parts_.sessions.find(sessions[i]);
    if (connected == nullptr) continue;
    ClientBackground& background = connected->background;
    const bool same = background.pid == found[i].pid;
    if (found[i].client.empty()) {
      if (background.by == By::Unknown) background.by = By::Other;
      background.unattended_since.reset();  // it was one, and cannot be read now: that proves nothing
      continue;
    }
    background.by = By::Background;
    background.client = found[i].client;
    background.pid = found[i].pid;
    if (found[i].attendance != Attendance::Unattended || !same) background.unattended_since.reset();
    if (found[i].attendance == Attendance::Unattended && !background.unattended_since) {
      background.unattended_since = Clock::now();
    }
  }
}

void UnattendedWatch::look_later() {
  std::optional<Clock::duration> soonest;
  for (const auto& [id, connected] : parts_.sessions) {
    if (connected.background.by != By::Background || !is_watched(connected)) continue;
    const Clock::duration after = rule_for(*connected.session().attachment().spec()).after();
    const Clock::duration next = std::clamp<Clock::duration>(after / kLooksPerTime, kMostOften, kMostRarely);
    soonest = std::min(soonest.value_or(next), next);
  }
  if (soonest) look_in(*soonest);
}

// ---- judging

pool::UnattendedRule UnattendedWatch::rule_for(const pool::ServerSpec& spec) const {
  // As the file is now: an instance is not replaced because this option has changed.
  const config::Server* const entry =
      spec.from_configuration ? parts_.definitions.find(spec.server) : nullptr;
  std::optional<std::chrono::milliseconds> asked = (entry != nullptr ? *entry : spec.entry).unattended;
  if (!asked) asked = parts_.definitions.options().unattended;
  return {asked, config::kUnattended};
}

const ConnectedSession* UnattendedWatch::left_last(const pool::Slot& slot) const {
  const ConnectedSession* last = nullptr;
  if (slot.life() != pool::Life::Ready) return nullptr;
  for (const auto& [id, port] : slot.router()->sessions()) {
    const ConnectedSession* const connected = parts_.sessions.find(id);
    if (connected == nullptr || !connected->background.unattended_since) return nullptr;
    if (last == nullptr || last->background.unattended_since < connected->background.unattended_since)
      last = connected;
  }
  return last;
}

void UnattendedWatch::judge() {
  std::vector<InstanceId> over;
  std::set<std::string> living;
  for (const pool::Slot& slot : parts_.pool.slots()) {
    judge(slot, over);
    if (slot.router() != nullptr) living.insert(slot.router()->instance()->id().text());
  }
  std::erase_if(told_, [&living](const std::string& instance) { return !living.contains(instance); });
  for (const InstanceId& instance : over) parts_.pool.park(instance);
}

void UnattendedWatch::judge(const pool::Slot& slot, std::vector<InstanceId>& over) {
  if (slot.router() == nullptr) return;
  const InstanceId& instance = slot.router()->instance()->id();
  const ConnectedSession* const left = left_last(slot);
  if (left == nullptr) {
    told_.erase(instance.text());
    return;
  }
  const pool::UnattendedVerdict verdict = parts_.pool.judge_unattended(
      slot, Clock::now() - *left->background.unattended_since, rule_for(slot.spec()));
  if (!verdict.over) return;
  if (verdict.parks) {
    over.push_back(instance);
    return tell(slot, *left, events::Cause::Parked, "it is parked, and the next call starts it again");
  }
  if (!told_.insert(instance.text()).second) return;
  tell(slot, *left, events::Cause::Kept,
       "it still runs, because it may keep state; " + how_to_park(slot.spec()));
}

void UnattendedWatch::tell(const pool::Slot& slot, const ConnectedSession& left, events::Cause cause,
                           const std::string& what) {
  events::Event event = pool::slot_event(
      slot, events::Kind::Unattended, events::name_of(cause),
      "nobody has been attached for " + show(Clock::now() - *left.background.unattended_since) + " to " +
          left.background.client + " (pid " + std::to_string(left.background.pid) +
          "), which holds the session of server " + slot.spec().server + ": " + what);
  event.session = left.session().id().value();
  parts_.events.tell(std::move(event));
}

std::string UnattendedWatch::how_to_park(const pool::ServerSpec& spec) const {
  const config::Configuration& configuration = parts_.definitions.configuration();
  const std::string file = configuration.file.empty() ? config::default_file() : configuration.file;
  const bool own = spec.from_configuration && parts_.definitions.find(spec.server) != nullptr;
  return "\"corral\": {\"unattended\": \"" + config::show_duration(config::kUnattended) + "\"} " +
         (own ? "in its entry in " : "at the top of ") + printable(file) + " parks it";
}

std::string UnattendedWatch::note_on(const pool::Slot& slot) const {
  const ConnectedSession* const left = left_last(slot);
  if (left == nullptr) return {};
  const Clock::duration unattended = Clock::now() - *left->background.unattended_since;
  const pool::UnattendedVerdict verdict =
      parts_.pool.judge_unattended(slot, unattended, rule_for(slot.spec()));
  return "nobody has been attached to " + left->background.client + " (pid " +
         std::to_string(left->background.pid) + ") for " + show(unattended) + "; " +
         (verdict.parks ? "parked in " + show(verdict.left) : how_to_park(slot.spec()));
}

}  // namespace corral::daemon
