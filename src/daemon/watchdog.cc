#include "daemon/watchdog.h"

#include <unistd.h>

#include <utility>

#include "base/text.h"
#include "control/runtime_dir.h"
#include "known/known_programs.h"
#include "reap/end_trees.h"
#include "reap/remnants.h"
#include "reap/watch.h"
#include "survey/survey_json.h"

namespace corral::daemon {
namespace {

using events::Event;
using events::Kind;

constexpr std::chrono::seconds kAsksAgain{60};  // checks whether it has been switched on

Event event_of(Kind kind, const std::string& cause, const std::string& text) {
  Event event;
  event.kind = kind;
  event.cause = cause;
  event.text = text;
  return event;
}

Event about(const reap::Disagreement& found) {
  Event event = event_of(Kind::Finding, reap::name_of(found.kind), found.text);
  event.server = found.server;
  event.instance = found.instance;
  event.pid = found.pid;
  return event;
}

Event about(const reap::Remnant& remnant) {
  Event event = event_of(remnant.outcome.gone() ? Kind::Reap : Kind::Survivor, "watchdog", remnant.text);
  event.server = remnant.server;
  event.instance = remnant.instance;
  event.pid = remnant.outcome.pid;
  event.count = 1;
  return event;
}

Event about(const survey::Server& server, reap::Group::Kind kind, const reap::EndedTree& tree) {
  const std::string naming = (kind == reap::Group::Kind::Orphans ? "orphan " : "surplus copy of ") +
                             printable(server.command.name) + " (pid " + std::to_string(server.pid) + ", " +
                             counted(tree.outcomes.size(), "process", "processes") + ", of " +
                             server.client.name + ")";
  Event event =
      event_of(tree.gone() ? Kind::Reap : Kind::Survivor, "foreign",
               naming + (tree.gone() ? ": ended" : ": could not be ended; `corral doctor` shows more"));
  event.pid = server.pid;
  event.count = tree.outcomes.size();
  return event;
}

std::string what_became_of_it(adopt::Standing standing) {
  switch (standing) {
    case adopt::Standing::Undone: return "was put back and does not go through corral";
    case adopt::Standing::Replaced: return "was replaced and does not go through corral";
    case adopt::Standing::Gone: return "is no longer there";
    default: return "was changed";
  }
}

Event about(const adopt::Drifted& drifted) {
  const known::KnownClient* const client = known::find_client(drifted.client);
  const bool lost =
      drifted.standing == adopt::Standing::Undone || drifted.standing == adopt::Standing::Replaced;
  Event event =
      event_of(Kind::Drift, adopt::name_of(drifted.standing),
               "the adopted server " + printable(drifted.server) + " of " +
                   (client == nullptr ? printable(drifted.client) : std::string(client->name)) + " in " +
                   printable(drifted.file) + " " + what_became_of_it(drifted.standing) + "; " +
                   (lost ? "`corral adopt " + printable(drifted.client) + "` adopts it again"
                         : std::string("`corral adopt --status` shows more")));
  event.server = drifted.server;
  return event;
}

}  // namespace

struct Watchdog::Foreign {
  explicit Foreign(std::size_t n) : keep(n), watch(reap::unasked(n), reap::who_asks()) {}

  /// Returns the events to report. `rule` says whether what is found is also ended.
  std::vector<Event> look(config::Foreign rule) {
    const bool end = rule == config::Foreign::End;
    std::vector<Event> told;
    const Result<survey::Survey> survey = survey::look_around();
    if (!survey) return {event_of(Kind::Finding, "foreign", survey.error().message)};
    const reap::LeakWatch::Step step = watch.look(*survey);
    for (const survey::Finding& finding : step.news) {
      const std::string next = finding.next.empty() || end ? "" : "; next: " + finding.next;
      told.push_back(event_of(Kind::Finding, survey::name_of(finding.kind), finding.title + next));
    }
    if (!end) return told;
    for (const reap::Group& group : step.selection.groups) {
      std::vector<const survey::Server*> servers;
      for (const std::size_t index : group.end) servers.push_back(&survey->servers[index]);
      const std::vector<reap::EndedTree> ended = reap::end_trees(servers, {});
      for (std::size_t i = 0; i < ended.size(); ++i) told.push_back(about(*servers[i], group.kind, ended[i]));
    }
    return told;
  }

  std::size_t keep;
  reap::LeakWatch watch;
};

Watchdog::Watchdog(Loop& loop, Hub& hub)
    : hub_(hub),
      records_(hub.records()),
      timer_(loop),
      adopted_(std::make_shared<adopt::DriftWatch>(control::default_state_directory())) {}

Watchdog::~Watchdog() = default;

void Watchdog::start() { wait(); }

void Watchdog::wait() {
  const auto interval = hub_.options().watch.interval;
  if (interval.count() == 0) return timer_.start(kAsksAgain, [this] { wait(); });
  timer_.start(interval, [this] { look(); });
}

void Watchdog::look() {
  look_at_own();
  look_at_foreign();
  look_at_adopted();
  wait();
}

// ---- the daemon's instances

void Watchdog::look_at_own() {
  if (std::exchange(looking_, true)) return;
  std::vector<registry::InstanceRecord> records;
  for (const auto& [id, record] : records_.journal().open()) records.push_back(record);
  const auto found = std::make_shared<std::vector<reap::Disagreement>>();
  records_.worker().run(
      [found, records = std::move(records)] {
        *found = reap::disagreements(getpid(), records, reap::list_processes());
      },
      lifetime_.guard([this, found] {
        looking_ = false;
        handle(std::move(*found));
      }));
}

/// Reports once what two checks in a row have found.
void Watchdog::handle(std::vector<reap::Disagreement> now) {
  std::set<std::string> told;
  for (const reap::Disagreement& one : reap::lasting(before_, now)) {
    const std::string key =
        std::string(reap::name_of(one.kind)) + one.instance + "/" + std::to_string(one.pid);
    told.insert(key);
    if (!told_.contains(key)) records_.events().tell(about(one));
    repair(one);  // again, if the first time did not help
  }
  told_ = std::move(told);
  before_ = std::move(now);
}

/// Also if nothing seems to be left: a process that has cleared its environment shows only the tag, and only
/// this looks for tags and into the cgroup.
void Watchdog::repair(const reap::Disagreement& found) {
  const auto record = records_.journal().open().find(found.instance);
  if (record == records_.journal().open().end()) return;
  if (found.repair == reap::Disagreement::Repair::None) return;
  if (!repairing_.insert(found.instance).second) return;
  const auto remnants = std::make_shared<reap::Remnants>();
  records_.worker().run([remnants, self = records_.self(),
                         instance = record->second] { *remnants = reap::end_instance(self, instance); },
                        lifetime_.guard([this, remnants, id = found.instance, kind = found.kind] {
                          repairing_.erase(id);
                          for (const reap::Remnant& remnant : remnants->processes)
                            records_.events().tell(about(remnant));
                          if (remnants->settled) records_.journal().ended(id, reap::name_of(kind));
                        }));
}

// ---- servers that other programs have left behind

void Watchdog::look_at_foreign() {
  const config::WatchRules& rules = hub_.options().watch;
  if (rules.foreign == config::Foreign::Off) return foreign_.reset();
  if (!foreign_ || foreign_->keep != hub_.options().keep)
    foreign_ = std::make_shared<Foreign>(hub_.options().keep);
  if (std::exchange(searching_, true)) return;
  const auto told = std::make_shared<std::vector<Event>>();
  records_.worker().run([told, foreign = foreign_, rule = rules.foreign] { *told = foreign->look(rule); },
                        lifetime_.guard([this, told] {
                          searching_ = false;
                          for (Event& event : *told) records_.events().tell(std::move(event));
                        }));
}

// ---- entries of clients that were adopted

void Watchdog::look_at_adopted() {
  if (std::exchange(reading_files_, true)) return;
  const auto drifted = std::make_shared<std::vector<adopt::Drifted>>();
  records_.worker().run([drifted, adopted = adopted_] { *drifted = adopted->look(); },
                        lifetime_.guard([this, drifted] {
                          reading_files_ = false;
                          for (const adopt::Drifted& one : *drifted) records_.events().tell(about(one));
                        }));
}

}  // namespace corral::daemon
