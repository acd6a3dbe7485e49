#include "daemon/records.h"

#include <poll.h>

#include <algorithm>

#include "events/event_log.h"
#include "keeper/kernel.h"
#include "registry/sqlite_registry.h"
#include "version.h"

namespace corral::daemon {
namespace {

std::string in_folder(const std::string& state, const char* name) {
  return state.empty() ? state : state + "/" + name;
}

events::Cause cause_of(registry::Loss loss) {
  switch (loss) {
    case registry::Loss::DamagedFile: return events::Cause::Damaged;
    case registry::Loss::OlderFile: return events::Cause::Older;
    case registry::Loss::Records: break;
  }
  return events::Cause::Lost;
}

using Notice = std::function<void(registry::Loss, const std::string&)>;

registry::RegistryOptions options_for(std::chrono::milliseconds history, Notice notice) {
  registry::RegistryOptions options;
  options.history = history;
  options.notice = std::move(notice);
  return options;
}

bool has_ended(const UniqueFd& process) {
  pollfd state{process.get(), POLLIN, 0};
  return poll(&state, 1, 0) == 1;
}

}  // namespace

Records::Records(Loop& loop, const std::string& state, std::chrono::milliseconds history)
    : registry_file_(in_folder(state, "registry.db")),
      registry_(registry::open_registry(
          loop, registry_file_,
          options_for(history,
                      [this](registry::Loss loss, const std::string& text) { tell_of_loss(loss, text); }))),
      self_(instance::record_of_this_process(kVersion)),
      journal_(*registry_, self_.id),
      manifests_(registry_.get()),
      error_files_(in_folder(state, "logs")),
      worker_(loop),
      looking_(loop),
      meter_(loop, looking_),
      reader_(loop, events_, registry_.get()) {
  registry_->begin(self_);
  events_.continue_after(registry_->last_event());
  events_.listen([this](const events::Event& event) { handle(event); });
  heard_ = true;
  for (const auto& [loss, text] : std::exchange(untold_, {})) tell_of_loss(loss, text);
  registry_->when_degraded([this] { tell_of_registry(); });
}

/// The registry outlives the stream.
Records::~Records() { heard_ = false; }

void Records::handle(const events::Event& event) {
  events::write_to_log(event);
  registry_->keep(event);
  metrics_.count(event);
  crash_loops_.handle(event);
  failures_.handle(event);
  if (event.kind == events::Kind::Survivor) remember_survivor(event);
}

void Records::tell_of_registry() {
  const std::string& why = registry_->degraded();
  events::Event event;
  event.kind = events::Kind::Registry;
  event.set_cause(why.empty() ? events::Cause::Whole : events::Cause::Degraded);
  event.text = why.empty() ? "the registry works again" : "the registry is degraded: " + why;
  events_.tell(std::move(event));
  if (why.empty() && whole_again_) whole_again_();
}

void Records::tell_of_loss(registry::Loss loss, const std::string& text) {
  if (!heard_) {
    untold_.emplace_back(loss, text);
    return;
  }
  if (loss != registry::Loss::Records) lost_ = text;
  events::Event event;
  event.kind = events::Kind::Registry;
  event.set_cause(cause_of(loss));
  event.text = text;
  events_.tell(std::move(event));
}

void Records::remember_survivor(const events::Event& event) {
  constexpr std::size_t kMostRemembered = 64;
  UniqueFd process(event.pid > 0 ? keeper::pidfd_open(event.pid) : -1);
  if (!process.valid()) return;
  if (unkillable_.size() >= kMostRemembered) unkillable_.erase(unkillable_.begin());
  unkillable_.push_back({std::move(process), event.text});
}

std::vector<std::string> Records::unkillable() {
  std::erase_if(unkillable_, [](const Unkillable& one) { return has_ended(one.process); });
  std::vector<std::string> sentences;
  for (const Unkillable& one : unkillable_) sentences.push_back(one.text);
  return sentences;
}

void Records::close() {
  if (journal_.open().empty()) registry_->end(self_.id);
  registry_->flush();
}

}  // namespace corral::daemon
