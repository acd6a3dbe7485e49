#include "daemon/reload.h"

#include <utility>

#include "base/log.h"
#include "control/hello.h"

namespace corral::daemon {
namespace {

// Changing the port or address would disconnect every HTTP session, and whether the new one can be opened is
// known only after the old one is closed.
constexpr const char* kHttpNeedsRestart =
    "\"http\" of \"corral\" has changed; this takes effect when the daemon restarts: "
    "`corral serve --replace`.";

std::string list_of(const char* what, const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? std::string("; ") + what + " " : ", ") + name;
  return text;
}

std::string sentence(const Reloaded& reloaded) {
  const std::string text = list_of("changed", reloaded.changed) + list_of("added", reloaded.added) +
                           list_of("removed", reloaded.removed);
  return text.empty() ? "; no server has changed" : text;
}

/// Counts down until the old instances of every affected server have ended.
struct Pending {
  Reloaded reloaded;
  std::size_t waits = 1;  // one for the loop that retires them all
  Reload::Done done;

  void one_less() {
    if (--waits == 0 && done) done(reloaded);
  }
};

}  // namespace

Reload::Reload(ServerDefinitions& definitions, ConnectedSessions& sessions, pool::Pool& pool,
               const Drain& drain, events::Stream& events)
    : definitions_(definitions), sessions_(sessions), pool_(pool), drain_(drain), events_(events) {
  apply_options();
}

void Reload::apply_options() {
  const config::Options& options = definitions_.options();
  pool_.set_limits({options.max_instances, options.keep, options.drain});
  pool_.set_line_cap(options.line_cap);
}

void Reload::run(const std::string& why, Done done) {
  if (drain_.begun()) {
    if (done) done(Error{control::kShuttingDown});
    return;
  }
  const Result<config::Changes> changes = definitions_.read_again();
  if (!changes) return fail(why, changes.error().message, done);
  apply_options();

  const auto pending = std::make_shared<Pending>();
  pending->reloaded = {changes->changed, changes->added, changes->removed, 0,
                       definitions_.configuration().warnings};
  const std::vector<std::string>& overruled = definitions_.configuration().overruled;
  pending->reloaded.warnings.insert(pending->reloaded.warnings.end(), overruled.begin(), overruled.end());
  pending->done = std::move(done);
  tell("read", "configuration (" + why + "): read" + sentence(pending->reloaded));
  if (changes->http) pending->reloaded.warnings.emplace_back(kHttpNeedsRestart);
  for (const std::string& warning : pending->reloaded.warnings) log_line("warning: " + warning);
  for (const auto* names : {&changes->changed, &changes->removed, &changes->added}) {
    for (const std::string& name : *names) redefine(name);
  }
  for (const auto* names : {&changes->changed, &changes->removed}) {
    for (const std::string& name : *names) {
      ++pending->waits;
      pending->reloaded.ended += pool_.retire(
          name, pool::Cause::Reloaded,
          [this, alive = lifetime_.watch(), pending, name](const std::vector<pool::InstanceEnd>&) {
            // If a server with this name is configured again later, it is a different server, and must not be
            // stopped because the old one was.
            const bool removed = !alive.over() && definitions_.find(name) == nullptr;
            if (removed && !drain_.begun()) pool_.allow(name);
            pending->one_less();
          });
    }
  }
  pending->one_less();
}

void Reload::fail(const std::string& why, std::string problem, const Done& done) {
  if (problem.ends_with('.')) problem.pop_back();
  problem += "; nothing was changed";
  tell("refused", "configuration (" + why + "): " + problem);
  if (done) done(Error{problem});
}

void Reload::redefine(const std::string& server) {
  for (auto& [id, connected] : sessions_) {
    const bool concerned = connected.origin.configured() && connected.origin.server == server;
    if (concerned && !connected.session().ended()) redefine(connected);
  }
}

/// The session continues with the new definition. If there is none for this client, the session ends.
void Reload::redefine(ConnectedSession& connected) {
  const std::string& server = connected.origin.server;
  const bool removed = definitions_.find(server) == nullptr;
  if (connected.arrival && !removed) {
    if (const auto refusal = definitions_.objection(*connected.arrival)) {
      return connected.session().withdraw(refusal->message);
    }
  }
  auto spec = definitions_.spec_for(connected.origin);
  if (spec) return connected.session().attachment().redefine(std::move(*spec));
  connected.session().withdraw(removed ? "server " + server + " is no longer in " +
                                             definitions_.configuration().file
                                       : spec.error().message);
}

void Reload::tell(const std::string& cause, const std::string& text) {
  events::Event event;
  event.kind = events::Kind::Reload;
  event.cause = cause;
  event.text = text;
  events_.tell(std::move(event));
}

}  // namespace corral::daemon
