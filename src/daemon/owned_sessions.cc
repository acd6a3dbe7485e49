#include "daemon/owned_sessions.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/files.h"
#include "base/log.h"
#include "base/unique_id.h"
#include "base/units.h"
#include "keeper/kernel.h"
#include "known/server_command.h"

namespace corral::daemon {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMostSessions = 4096;
constexpr std::size_t kMostServers = 64;  // in the list
// The caller of `end` waits for the evidence, and a server that never reads its input would take a minute.
constexpr milliseconds kPoliteness{3000};
constexpr milliseconds kDefaultTtl = std::chrono::hours(1);  // for a session without an owner

std::string new_id() { return "s-" + random_hex(8); }

std::string path_of(const Environment& environment) {
  for (const std::string& variable : environment) {
    if (variable.starts_with("PATH=")) return variable.substr(5);
  }
  return {};
}

std::string name_of(const std::vector<std::string>& argv, const OwnedSession& session) {
  const std::string name = known::understand(argv, "", session.cwd, path_of(*session.environment)).name;
  return name.empty() ? base_name(argv.front()) : name;
}

milliseconds since(Clock::time_point then) {
  return std::chrono::duration_cast<milliseconds>(Clock::now() - then);
}

}  // namespace

std::string unique_name(const std::string& wanted, const std::vector<std::string>& taken) {
  const auto free = [&taken](const std::string& name) {
    return std::find(taken.begin(), taken.end(), name) == taken.end();
  };
  std::string name = wanted;
  for (int number = 2; !free(name); ++number) name = wanted + "-" + std::to_string(number);
  return name;
}

OwnedSessions::OwnedSessions(Loop& loop, ConnectedSessions& connected, pool::Pool& pool, Resolves resolves,
                             Task empty)
    : loop_(loop),
      connected_(connected),
      pool_(pool),
      resolves_(std::move(resolves)),
      empty_(std::move(empty)) {
  // An end that was proved needs no evidence later.
  pool_.when_unproved(lifetime_.guard([this](const std::string& owner, const pool::InstanceEnd& end) {
    const auto found = sessions_.find(owner);
    if (found != sessions_.end()) remember(found->second, end);
  }));
}

// ---- creating and attaching

Result<const OwnedSession*> OwnedSessions::create(const control::Hello& hello,
                                                  std::shared_ptr<const Environment> environment,
                                                  Confined creator) {
  if (sessions_.size() >= kMostSessions) {
    return Error{"the daemon has " + std::to_string(kMostSessions) +
                 " sessions, which is its limit: end some (`corral session list`)"};
  }
  OwnedSession session;
  session.id = new_id();
  session.cwd = hello.cwd;
  session.environment = std::move(environment);
  session.owner = hello.owner;
  session.creator = creator;
  if (const Result<void> added = add_servers(hello, session); !added) return added.error();
  if (hello.ttl.count() > 0) {
    session.ttl = hello.ttl;
  } else if (hello.owner == 0) {
    session.ttl = kDefaultTtl;
  }
  if (const Result<void> watched = watch_owner(session); !watched) return watched.error();
  OwnedSession& kept = sessions_[session.id];
  kept = std::move(session);
  if (kept.ttl) watch_silence(kept, *kept.ttl);
  if (kept.owner_watch) {
    kept.owner_watch->when_readable([this, id = kept.id] { end(id, "its owner is gone", {}); });
  }
  return &kept;
}

/// A server that does not exist is an error now, when the creator can handle it, and not at the first call.
Result<void> OwnedSessions::add_servers(const control::Hello& hello, OwnedSession& session) const {
  for (const std::string& name : hello.servers) {
    if (std::find(session.servers.begin(), session.servers.end(), name) != session.servers.end()) {
      return Error{"server '" + name + "' is named twice: a session has each server once"};
    }
    const Origin origin{name, {}, session.cwd, "", "", session.environment};
    if (const Result<void> resolved = resolves_(origin); !resolved) return resolved.error();
    session.servers.push_back(name);
  }
  for (const std::vector<std::string>& argv : hello.commands) {
    const std::string name = unique_name(name_of(argv, session), session.servers);
    session.servers.push_back(name);
    session.commands[name] = argv;
  }
  return {};
}

Result<void> OwnedSessions::watch_owner(OwnedSession& session) {
  if (session.owner == 0) return {};
  const std::string process = "process " + std::to_string(session.owner);
  session.owner_fd = UniqueFd(keeper::pidfd_open(session.owner));
  pollfd state{session.owner_fd.get(), POLLIN, 0};
  if (session.owner_fd.valid() && poll(&state, 1, 0) == 0) {
    session.owner_watch = std::make_unique<Watch>(loop_, session.owner_fd.get());
    return {};
  }
  if (session.owner_fd.valid() || errno == ESRCH || errno == EINVAL) {
    return Error{process + " is gone already or never existed: it cannot own a session"};
  }
  return Error{process + " cannot be watched: " + strerror(errno) + "; give a time to live instead"};
}

Result<Origin> OwnedSessions::attach(const std::string& id, Origin origin, Confined client) const {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) {
    return Error{"no session is called '" + id + "'; `corral session list` shows those that are open"};
  }
  const OwnedSession& session = found->second;
  if (session.ending) return Error{"session " + id + " is ending: create another"};
  // The session's commands and variables come from outside the sandbox of this client.
  if (client == Confined::Yes && session.creator == Confined::No) {
    return Error{"this process is more confined than the one that created session " + id +
                 ": create one from here"};
  }
  if (!origin.configured()) return origin;
  origin.cwd = session.cwd;
  origin.environment = session.environment;
  const auto command = session.commands.find(origin.server);
  if (command != session.commands.end()) origin.argv = command->second;
  return origin;
}

void OwnedSessions::attached(const std::string& id, const std::string& server) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  OwnedSession& session = found->second;
  session.last_heard = Clock::now();
  const auto known = std::find(session.servers.begin(), session.servers.end(), server);
  if (known == session.servers.end() && session.servers.size() < kMostServers)
    session.servers.push_back(server);
}

// ---- silence

Clock::time_point OwnedSessions::last_heard(const OwnedSession& session) const {
  Clock::time_point last = session.last_heard;
  for (const auto& [number, one] : connected_) {
    if (one.session().owner() == session.id) last = std::max(last, one.session().record().last_heard);
  }
  return last;
}

/// A client that waits for an answer sends nothing, but it still uses the session.
bool OwnedSessions::has_calls(const OwnedSession& session) const {
  return std::any_of(connected_.begin(), connected_.end(), [&session](const auto& entry) {
    const session::Session& one = entry.second.session();
    return one.owner() == session.id && one.awaited();
  });
}

void OwnedSessions::watch_silence(OwnedSession& session, Clock::duration after) {
  if (!session.timer) session.timer = std::make_unique<Timer>(loop_);
  session.timer->start(after, [this, id = session.id] {
    OwnedSession& one = sessions_.at(id);
    if (has_calls(one)) one.last_heard = Clock::now();
    const Clock::time_point until = last_heard(one) + *one.ttl;
    if (Clock::now() < until) return watch_silence(one, until - Clock::now());
    end(id, "silent for " + show_age(*one.ttl), {});
  });
}

// ---- ending

// NOLINTNEXTLINE(performance-unnecessary-value-param): it may belong to the session, which is destroyed
bool OwnedSessions::end(std::string id, const std::string& why, Ended done) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return false;
  OwnedSession& session = found->second;
  if (done) session.waiting.push_back(std::move(done));
  if (std::exchange(session.ending, true)) return true;
  log_line("session " + id + " is ending: " + why);
  session.ending_since = Clock::now();
  session.evidence.id = id;
  session.owner_watch.reset();
  session.owner_fd.reset();
  session.timer = std::make_unique<Timer>(loop_);
  session.timer->start(kPoliteness, [this, id] { hasten(id); });
  end_connected(session);
  finish_if_gone(id);
  return true;
}

void OwnedSessions::end_connected(OwnedSession& session) {
  const std::string id = session.id;
  ++session.awaited;  // for this loop, so that nothing finishes before all have been told to end
  for (auto& [number, connected] : connected_) {
    session::Session& one = connected.session();
    if (one.owner() != id || one.ended()) continue;
    ++session.awaited;
    if (const router::Router* router = one.attachment().router()) {
      session.evidence.kept.push_back({one.attachment().server(), router->instance()->id(), 0});
    }
    one.end(session::EndReason::SessionEnded,
            lifetime_.guard([this, id](const pool::InstanceEnd* end) { one_ended(id, end); }));
  }
  // Includes instances whose sessions have ended before; the others are reported twice.
  session.awaited += pool_.end_all_of(
      id, lifetime_.guard([this, id](const pool::InstanceEnd& end) { one_ended(id, &end); }));
  --session.awaited;
}

void OwnedSessions::remember(OwnedSession& session, const pool::InstanceEnd& end) {
  constexpr std::size_t kMost = 1024;
  std::vector<pool::InstanceEnd>& ended = session.evidence.ended;
  const bool known = std::any_of(ended.begin(), ended.end(), [&end](const pool::InstanceEnd& one) {
    return one.instance == end.instance;
  });
  if (!known && ended.size() < kMost) ended.push_back(end);
}

void OwnedSessions::one_ended(const std::string& id, const pool::InstanceEnd* end) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  if (end != nullptr) remember(found->second, *end);
  --found->second.awaited;
  finish_if_gone(id);
}

/// Ends them a second time: now nothing waits for the servers to read their input.
void OwnedSessions::hasten(const std::string& id) {
  for (auto& [number, connected] : connected_) {
    session::Session& one = connected.session();
    if (one.owner() == id && one.ended()) one.end(session::EndReason::ShimGone);
  }
  pool_.hasten_all_of(id);
}

/// Instances of its sessions that still run are used by other sessions.
void OwnedSessions::note_kept(OwnedSession& session) const {
  std::map<InstanceId, Kept> kept;
  for (Kept& used : session.evidence.kept) {
    const std::optional<std::size_t> sessions = sessions_of(pool_, used.instance);
    if (!sessions) continue;
    used.sessions = *sessions;
    kept[used.instance] = used;
  }
  session.evidence.kept.clear();
  for (auto& [instance, one] : kept) session.evidence.kept.push_back(std::move(one));
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): the same
void OwnedSessions::finish_if_gone(std::string id) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  OwnedSession& session = found->second;
  if (!session.ending || session.awaited > 0) return;
  note_kept(session);
  session.evidence.took = since(session.ending_since);
  log_line("session " + id + ": ended " + std::to_string(session.evidence.ended.size()) + " instances" +
           (session.evidence.leaked() ? ", and not every tree is proved gone" : ""));
  const SessionEvidence evidence = std::move(session.evidence);
  const auto waiting = std::move(session.waiting);
  sessions_.erase(found);
  for (const Ended& done : waiting) done(evidence);
  if (sessions_.empty() && empty_) empty_();
}

void OwnedSessions::left(const session::Session& session) {
  const auto found = sessions_.find(session.owner());
  if (found == sessions_.end()) return;
  found->second.last_heard = std::max(found->second.last_heard, session.record().last_heard);
}

void OwnedSessions::close() {
  std::erase_if(sessions_, [](const auto& entry) { return !entry.second.ending; });
}

// ---- showing

observe::SessionObjectView OwnedSessions::view_of(const OwnedSession& session) const {
  observe::SessionObjectView view;
  view.id = session.id;
  view.state = session.ending ? "ending" : "open";
  view.servers = session.servers;
  for (const auto& [number, connected] : connected_) {
    const session::Session& one = connected.session();
    if (one.owner() != session.id) continue;
    observe::AttachedView& attached = view.attached.emplace_back();
    attached.server = one.attachment().server();
    attached.client_pid = connected.client_pid();
    attached.state = one.attachment().state();
    if (const router::Router* const router = one.attachment().router()) {
      attached.instance = router->instance()->id().text();
    }
  }
  if (session.owner != 0) view.owner = session.owner;
  view.ttl = session.ttl;
  view.age = since(session.since);
  view.silent = since(last_heard(session));
  return view;
}

std::vector<observe::SessionObjectView> OwnedSessions::list() const {
  std::vector<observe::SessionObjectView> list;
  for (const auto& [id, session] : sessions_) list.push_back(view_of(session));
  return list;
}

}  // namespace corral::daemon
