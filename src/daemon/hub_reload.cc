// Another configuration while sessions run: what it does not touch does not notice.
#include "base/log.h"
#include "config/changes.h"
#include "daemon/hub_impl.h"

namespace corral::daemon {
namespace {

// A door that moved would cut off every session behind it, and whether it may be opened is known only then.
constexpr const char* kHttpNeedsRestart =
    "\"http\" of \"corral\" has changed, which holds from the next start of the daemon on: "
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

/// Counts down until every touched server has lost its old instances.
struct Going {
  Reloaded reloaded;
  std::size_t waits = 1;  // one for whoever asks them all
  std::function<void(const Result<Reloaded>&)> done;

  void one_less() {
    if (--waits == 0 && done) done(reloaded);
  }
};

}  // namespace

void Hub::reload(const std::string& why, std::function<void(const Result<Reloaded>&)> done) {
  if (impl_->draining) {
    if (done) done(Error{"the daemon is shutting down"});
    return;
  }
  Result<config::Configuration> read = impl_->read_again();
  if (!read) {
    impl_->configuration_error = read.error().message;
    std::string problem = read.error().message;
    if (problem.ends_with('.')) problem.pop_back();
    problem += "; nothing was changed";
    impl_->tell_reload("refused", "configuration (" + why + "): " + problem);
    if (done) done(Error{problem});
    return;
  }
  impl_->configuration_error.clear();
  const config::Changes changes = config::changes(impl_->configuration, *read);
  impl_->configuration = std::move(*read);
  impl_->wanteds.clear();  // the same command may stand under other rules now
  impl_->apply_options();

  const auto going = std::make_shared<Going>();
  going->reloaded = {changes.changed, changes.added, changes.removed, 0, impl_->configuration.warnings};
  going->done = std::move(done);
  impl_->tell_reload("read", "configuration (" + why + "): read" + sentence(going->reloaded));
  if (changes.http) going->reloaded.warnings.emplace_back(kHttpNeedsRestart);
  for (const std::string& warning : going->reloaded.warnings) log_line("warning: " + warning);
  for (const auto* names : {&changes.changed, &changes.removed, &changes.added}) {
    for (const std::string& name : *names) impl_->redefine_guests(name);
  }
  for (const auto* names : {&changes.changed, &changes.removed}) {
    for (const std::string& name : *names) {
      ++going->waits;
      going->reloaded.ended +=
          impl_->pool.retire(name, pool::Cause::Reloaded,
                             [impl = impl_.get(), going, name](const std::vector<pool::InstanceEnd>&) {
                               // What comes back one day under the name of a server that was stopped is
                               // another server.
                               if (!impl->draining && impl->configuration.find(name) == nullptr)
                                 impl->pool.allow(name);
                               going->one_less();
                             });
    }
  }
  going->one_less();
}

/// Its sessions go on with the new definition. Where there is none, or none for this client, they end.
void Hub::Impl::redefine_guests(const std::string& server) {
  for (Guest& guest : guests) {
    if (!guest.origin.configured() || guest.origin.server != server || guest.session().ended()) continue;
    const bool removed = configuration.find(server) == nullptr;
    const auto refusal = guest.arrival && !removed ? objection(*guest.arrival) : std::nullopt;
    if (refusal) {
      guest.session().withdraw(refusal->message);
      continue;
    }
    auto now = wanted(guest.origin);
    if (now) {
      guest.session().redefine(std::move(*now));
      continue;
    }
    const std::string why =
        removed ? "server " + server + " is no longer in " + configuration.file : now.error().message;
    guest.session().withdraw(why);
  }
}

}  // namespace corral::daemon
