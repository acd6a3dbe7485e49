// Who asks for an instance, which place it is sent to, and what instances teach.
#include "pool/switchboard.h"

#include <algorithm>

#include "pool/slot_events.h"

namespace corral::pool {

using instance::Instance;
using pool::Happening;
using pool::Life;

Switchboard::Switchboard(Loop& loop, proc::Spawner& spawner, std::size_t line_cap)
    : loop_(loop),
      spawner_(spawner),
      line_cap_(line_cap),
      catalog_(loop),
      children_(loop),
      build_of_([](const instance::Instance& instance) {
        return knowledge::learn_fingerprint(instance.server_pid(), instance.input_inode());
      }),
      code_(loop),
      random_(std::random_device()()) {}

Switchboard::~Switchboard() = default;

// ---- asking

void Switchboard::open(router::SessionPort& port, const Ask& ask) {
  const Wanted& wanted = *ask.wanted;
  if (wanted.from_configuration && stopped_.contains(wanted.server)) {
    return port.opened({router::Opened::Kind::Failed, nullptr,
                        "server " + wanted.server + " was stopped with `corral stop`; `corral start " +
                            wanted.server + "` allows it again"});
  }
  catalog_.forget_some([this](std::string_view key) {
    return std::any_of(places_.begin(), places_.end(),
                       [key](const Place& place) { return place.wanted->key == key; });
  });
  catalog_.forget_old_build(wanted);
  const knowledge::SharingDecision decision = catalog_.decide(ask);
  hint(port, wanted, decision);
  Place& place = place_for(port, ask, decision);
  place.askers.push_back({&port, ask.initialize_params});
  if (std::exchange(place.begun_early, false)) place.askers.back().way = "spare";
  // A server may hold a port or a lock: what takes its place under another definition waits for its end.
  if (Place* const before = left_by_session(port.session(), place)) {
    before->when_gone.emplace_back(
        [this, key = place.key, session = port.session()](const Gone&) { ask_again(key, session); });
    return;
  }
  happen(place, Happening::Asked);
}

Place* Switchboard::left_by_session(router::SessionId session, const Place& except) {
  const auto found = std::find_if(places_.begin(), places_.end(), [&](const Place& place) {
    return &place != &except && place.router && goes(place) && place.left.contains(session);
  });
  return found == places_.end() ? nullptr : &*found;
}

/// The place may have got another key meanwhile, the session may have left.
void Switchboard::ask_again(const std::string& key, router::SessionId session) {
  const auto waits = std::find_if(places_.begin(), places_.end(), [session](const Place& place) {
    return std::any_of(place.askers.begin(), place.askers.end(),
                       [session](const Asker& asker) { return asker.port->session() == session; });
  });
  Place* const found = waits != places_.end() ? &*waits : place_called(key);
  if (found == nullptr) return;
  if (found->askers.empty() && found->life == Life::Empty) return revive(*found);
  happen(*found, Happening::Asked);
}

std::string Switchboard::key_for(const Ask& ask, const knowledge::SharingDecision& decision,
                                 router::SessionId session) {
  return ask.wanted->key + (decision.shared ? "" : "\n#" + to_string(session));
}

Place& Switchboard::place_for(router::SessionPort& port, const Ask& ask,
                              const knowledge::SharingDecision& decision) {
  const std::string key = key_for(ask, decision, port.session());
  if (Place* const running = place_called(key)) look_at_code(*running);
  Place* found = place_called(key);
  if (found == nullptr) found = spare_for(port, ask, decision);
  if (found != nullptr) {
    // What is not part of the key may have changed; the next instance follows the latest word.
    const bool runs =
        found->life == Life::Starting || found->life == Life::Restarting || found->life == Life::Ready;
    if (!runs) {
      found->wanted = ask.wanted;
      found->decision = decision;
    }
    return *found;
  }
  Place& place = places_.emplace_back(loop_, key, ask.wanted, decision);
  place.session = decision.shared ? router::SessionId() : port.session();
  place.policy = pool::RestartPolicy(limits_.restart);
  return place;
}

/// Once per server: why it is private, and how to change that.
void Switchboard::hint(router::SessionPort& port, const Wanted& wanted,
                       const knowledge::SharingDecision& decision) {
  if (decision.shared || decision.hint.empty() || !catalog_.hint_once(wanted)) return;
  port.note(decision.reason + "; " + decision.hint);
}

void Switchboard::answered_without_instance(const router::SessionPort& port, const Wanted& wanted) const {
  tell(answered_without_instance_event(port, wanted));
}

// ---- letting go

/// A shared instance goes with the last session object that uses it: whoever started it may leave before.
void Switchboard::hand_on(Place& place) {
  std::set<const router::SessionPort*> users;
  if (place.router) {
    for (const auto& [id, port] : place.router->sessions()) users.insert(port);
  }
  for (const Asker& asker : place.askers) users.insert(asker.port);
  const auto used_by = [&users](const std::string& owner) {
    return std::any_of(users.begin(), users.end(),
                       [&owner](const router::SessionPort* user) { return user->owner() == owner; });
  };
  if (users.empty() || place.started_for.empty() || used_by(place.started_for)) return;
  // One that nobody may end is there for good, or until it is idle.
  place.started_for = used_by("") ? "" : (*users.begin())->owner();
}

bool Switchboard::release(router::SessionPort& port, Instance::Haste haste, WhenGone when_gone,
                          bool with_owner) {
  Place* const place = place_of(port);
  if (place == nullptr) return false;
  std::erase_if(place->askers, [&port](const Asker& asker) { return asker.port == &port; });
  if (place->router) place->router->detach(port);
  const bool alone = place->askers.empty() && (!place->router || place->router->sessions().empty());
  if (!alone) hand_on(*place);
  const bool its_own = with_owner && alone && place->started_for == port.owner();
  if (place->decision.shared && !its_own) {
    if (alone && place->life == Life::Waiting) happen(*place, Happening::Unused);
    if (alone) watch_use(*place, place->stale.empty() ? place->wanted->idle : Clock::duration::zero());
    keep_newest();
    return false;
  }
  place->left_by = port.session();
  place->haste = haste;
  if (!goes(*place) && place->life != Life::Draining) place->cause = Cause::SessionEnded;
  for (Place& other : places_) {  // of an earlier definition, on its way out
    if (&other != place && other.session == port.session() && other.router) other.left_by = port.session();
  }
  const bool lives = place->router != nullptr;
  if (lives && when_gone) place->when_gone.push_back(std::move(when_gone));
  if (lives && goes(*place)) place->router->stop(haste);
  happen(*place, Happening::Unused);
  return lives;
}

void Switchboard::hasten(router::SessionId session) {
  for (Place& place : places_) {
    if (place.left_by == session && place.router) place.router->stop(Instance::Haste::ClientGone);
  }
}

std::size_t Switchboard::end_all_of(const std::string& owner, const WhenGone& when_gone) {
  std::size_t count = 0;
  for (Place& place : places_) {
    if (place.started_for != owner || !place.router) continue;
    const bool unused = place.askers.empty() && place.router->sessions().empty();
    if (!goes(place) && !unused) {  // others have joined
      hand_on(place);
      continue;
    }
    place.when_gone.push_back(when_gone);
    ++count;
    if (goes(place)) continue;
    if (place.life != Life::Draining) place.cause = Cause::SessionEnded;
    happen(place, Happening::Unused);
  }
  return count;
}

void Switchboard::hasten_all_of(const std::string& owner) {
  for (Place& place : places_) {
    if (place.started_for == owner && place.router && goes(place)) {
      place.router->stop(Instance::Haste::ClientGone);
    }
  }
}

void Switchboard::stop_all(Instance::Haste haste) {
  closing_ = true;
  catalog_.save();
  for (Place& place : places_) {
    place.haste = haste;
    if (place.router && goes(place)) {
      place.router->stop(haste);
    } else {
      place.cause = Cause::ShuttingDown;
      happen(place, Happening::Unused);
    }
  }
}

std::size_t Switchboard::living() const {
  return static_cast<std::size_t>(std::count_if(places_.begin(), places_.end(),
                                                [](const Place& place) { return place.router != nullptr; }));
}

// ---- on the user's word

std::size_t Switchboard::retire(const std::string& server, Cause cause, const AllGone& done) {
  if (cause == Cause::Stopped) stopped_.insert(server);
  std::vector<Place*> places;  // sessions that ask anew may add to the list
  for (Place& place : places_) {
    if (is_configured_as(*place.wanted, server)) places.push_back(&place);
  }
  const auto running = static_cast<std::size_t>(std::count_if(
      places.begin(), places.end(), [](const Place* place) { return place->router != nullptr; }));
  if (running == 0) done({});
  const auto report = std::make_shared<std::vector<Gone>>();
  for (Place* const place : places) {
    if (place->router) {
      place->when_gone.emplace_back([report, running, done](const Gone& gone) {
        report->push_back(gone);
        if (report->size() == running) done(*report);
      });
      if (!goes(*place)) place->cause = cause;
    }
    place->policy.forgive();
    // Who waits for the old definition, or in vain, must not revive the place.
    std::deque<Asker> askers;
    if (cause != Cause::Restarted) askers = std::exchange(place->askers, {});
    for (const Asker& asker : askers) place->left.insert(asker.port->session());
    happen(*place, Happening::Retired);
    for (const Asker& asker : askers) {
      asker.port->opened(
          {cause == Cause::Stopped ? router::Opened::Kind::Failed : router::Opened::Kind::Again, nullptr,
           "server " + server + " was stopped with `corral stop`"});
    }
  }
  return running;
}

void Switchboard::recycle(const InstanceId& instance, const std::string& why) {
  for (Place& place : places_) {
    if (place.life != Life::Ready || place.router->instance()->id() != instance) continue;
    place.cause = Cause::Recycled;
    tell(slot_event(place, events::Kind::Finding, "memory", why));
    return happen(place, Happening::Retired);
  }
}

bool Switchboard::allow(const std::string& server) {
  bool any = stopped_.erase(server) > 0;
  for (Place& place : places_) {
    if (!is_configured_as(*place.wanted, server)) continue;
    any = any || place.life == Life::Broken || place.life == Life::Waiting;
    place.policy.forgive();
    happen(place, Happening::Rested);
  }
  return any;
}

// ---- finding

Place* Switchboard::place_of(const router::Router& router) {
  const auto found = std::find_if(places_.begin(), places_.end(),
                                  [&router](const Place& place) { return place.router.get() == &router; });
  return found == places_.end() ? nullptr : &*found;
}

/// Where it is attached, or waits; otherwise where its own last instance is still on its way out.
Place* Switchboard::place_of(const router::SessionPort& port) {
  const auto find = [this](auto condition) {
    const auto found = std::find_if(places_.begin(), places_.end(), condition);
    return found == places_.end() ? nullptr : &*found;
  };
  Place* const place = find([&port](const Place& one) {
    const bool asks = std::any_of(one.askers.begin(), one.askers.end(),
                                  [&port](const Asker& asker) { return asker.port == &port; });
    return asks || (one.router && one.router->sessions().contains(port.session()));
  });
  if (place != nullptr) return place;
  return find([&port](const Place& one) { return one.session == port.session() && one.router != nullptr; });
}

Place* Switchboard::place_called(std::string_view key) {
  const auto found =
      std::find_if(places_.begin(), places_.end(), [key](const Place& place) { return place.key == key; });
  return found == places_.end() ? nullptr : &*found;
}

}  // namespace corral::pool
