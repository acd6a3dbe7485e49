#include "router/switchboard.h"

#include <algorithm>

#include "base/log.h"
#include "server/known_servers.h"
#include "server/launch_key.h"
#include "server/lost_keeper.h"

namespace corral::router {

using server::Era;
using server::Instance;

namespace {

std::string path_of(const proc::LaunchSpec& spec) {
  for (const std::string& variable : spec.environment) {
    if (variable.starts_with("PATH=")) return variable.substr(5);
  }
  return {};
}

}  // namespace

Switchboard::Switchboard(Loop& loop, proc::Spawner& spawner, std::size_t line_cap)
    : loop_(loop), spawner_(spawner), line_cap_(line_cap), children_(loop) {}

Switchboard::~Switchboard() = default;

void Switchboard::open(SessionPort& port, const std::shared_ptr<const Wanted>& wanted, Era era,
                       const std::string& initialize_params) {
  forget_some();
  Knowledge& known = knowledge_[wanted->key];
  if (era == Era::Modern && known.manifest.modern == false) {
    return port.opened({Opened::Kind::OtherEra, nullptr, {}});
  }
  const SharingDecision decision = decide_sharing({
      .server = wanted->server,
      .wanted = wanted->share,
      .from_configuration = wanted->from_configuration,
      .stateless_by_configuration = wanted->stateless,
      .known = server::find_known_server(wanted->spec.argv, wanted->spec.directory, path_of(wanted->spec)),
      .manifest = known.manifest,
      .era = era,
  });
  hint(port, *wanted, decision);
  Entry* entry = decision.shared ? find_shared(wanted->key, era) : nullptr;
  if (entry == nullptr) {
    const Result<Entry*> started = start(wanted, era, decision);
    if (!started) {
      const Error& error = started.error();
      return port.opened({Opened::Kind::Failed, nullptr, error.message, server::exit_code_of(error)});
    }
    entry = *started;
  }
  entry->idle->cancel();
  const std::string params = decision.shared ? server::plain_initialize_params() : initialize_params;
  entry->router->attach(port, {era, params, decision.shared});
}

Switchboard::Entry* Switchboard::find_shared(const std::string& key, Era era) {
  for (Entry& entry : entries_) {
    if (entry.era == era && !entry.ended && !entry.stopping && entry.router->joinable() &&
        entry.wanted->key == key) {
      return &entry;
    }
  }
  return nullptr;
}

Result<Switchboard::Entry*> Switchboard::start(const std::shared_ptr<const Wanted>& wanted, Era era,
                                               const SharingDecision& decision) {
  RouterOptions options{
      .server = wanted->server,
      .shared = decision.shared,
      .confirm_read_only = decision.confirm_annotations,
      .allows_tool = wanted->allows_tool,
      .call_timeout = wanted->call_timeout,
  };
  Router::Owner& self = *this;
  Entry entry{std::make_unique<Router>(loop_, std::move(options), self), wanted, era, decision,
              std::make_unique<Timer>(loop_)};
  if (const auto started = entry.router->start(spawner_, wanted->spec, line_cap_); !started) {
    return started.error();
  }
  ++started_;
  children_.started(entry.router->instance()->keeper());
  log_line("instance " + entry.router->instance()->id().substr(0, 8) + " of server " + wanted->server +
           ": started, " + decision.reason);
  entries_.push_back(std::move(entry));
  return &entries_.back();
}

/// Commands that differ in one variable are different servers; what is known of them must not pile up.
void Switchboard::forget_some() {
  constexpr std::size_t kMostKnown = 256;
  if (knowledge_.size() < kMostKnown) return;
  std::erase_if(knowledge_, [this](const auto& known) {
    return std::none_of(entries_.begin(), entries_.end(),
                        [&known](const Entry& entry) { return entry.wanted->key == known.first; });
  });
}

/// Once per server: why it is private, and how to change that.
void Switchboard::hint(SessionPort& port, const Wanted& wanted, const SharingDecision& decision) {
  Knowledge& known = knowledge_[wanted.key];
  if (decision.shared || decision.hint.empty() || std::exchange(known.hinted, true)) return;
  port.note(decision.reason + "; " + decision.hint);
}

bool Switchboard::release(SessionPort& port, Instance::Haste haste, Task when_gone) {
  Entry* entry = entry_of(port);
  if (entry == nullptr || entry->ended) return false;
  Router& router = *entry->router;
  router.detach(port);
  if (router.options().shared) {
    if (router.sessions().empty() && !entry->stopping) {
      const Clock::duration idle = router.failed() ? Clock::duration::zero() : entry->wanted->idle;
      entry->idle->start(idle, [entry] {
        entry->stopping = true;
        entry->router->stop(Instance::Haste::Polite);
      });
    }
    return false;
  }
  entry->stopping = true;
  awaiting_end_.emplace(&router, Awaiting{&port, std::move(when_gone)});
  router.stop(haste);
  return true;
}

void Switchboard::hasten(SessionPort& port) {
  for (const auto& [router, awaiting] : awaiting_end_) {
    if (awaiting.port == &port) entry_of(*router)->router->stop(Instance::Haste::ClientGone);
  }
}

void Switchboard::stop_all(Instance::Haste haste) {
  for (Entry& entry : entries_) {
    if (entry.ended) continue;
    entry.stopping = true;
    entry.idle->cancel();
    entry.router->stop(haste);
  }
}

std::size_t Switchboard::living() const {
  return static_cast<std::size_t>(
      std::count_if(entries_.begin(), entries_.end(), [](const Entry& entry) { return !entry.ended; }));
}

// ---- what instances teach

void Switchboard::learned_read_only(Router& router, bool read_only) {
  Knowledge& known = knowledge_of(router);
  // What a shared instance shows is what counts; a private one may show fewer tools.
  if (router.options().shared && !read_only) known.refuted = true;
  known.manifest.read_only = read_only && !known.refuted;
}

void Switchboard::learned_conversational(Router& router) {
  Knowledge& known = knowledge_of(router);
  if (std::exchange(known.manifest.conversational, true)) return;
  log_line("server " + router.options().server +
           " asked a client something on a shared instance and was refused; new sessions get their own");
}

void Switchboard::learned_era(Router& router, bool modern) { knowledge_of(router).manifest.modern = modern; }

void Switchboard::router_ended(Router& router, const server::Ending& ending) {
  Entry& entry = *entry_of(router);
  entry.ended = true;
  entry.idle->cancel();
  log_line("instance " + router.instance()->id().substr(0, 8) + " of server " + router.options().server +
           ": " + ending.sentence +
           (ending.proved_empty ? ", its tree is gone" : ", its tree was not proved gone"));
  if (ending.keeper_lost) {
    children_.end_orphans();
    if (const pid_t child = server::run_terminators_of(router.instance()->tree())) children_.started(child);
  }
  const auto [first, last] = awaiting_end_.equal_range(&router);
  std::vector<Task> tasks;
  for (auto waiting = first; waiting != last; ++waiting) tasks.push_back(std::move(waiting->second.task));
  awaiting_end_.erase(first, last);
  for (const Task& task : tasks) task();
  // We are called from inside the router.
  loop_.post([this, gone = &router] {
    entries_.remove_if([gone](const Entry& one) { return one.router.get() == gone; });
  });
}

Switchboard::Entry* Switchboard::entry_of(const Router& router) {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&router](const Entry& entry) { return entry.router.get() == &router; });
  return found == entries_.end() ? nullptr : &*found;
}

Switchboard::Entry* Switchboard::entry_of(SessionPort& port) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&port](const Entry& entry) {
    return entry.router->sessions().contains(&port);
  });
  return found == entries_.end() ? nullptr : &*found;
}

Switchboard::Knowledge& Switchboard::knowledge_of(const Router& router) {
  return knowledge_[entry_of(router)->wanted->key];
}

}  // namespace corral::router
