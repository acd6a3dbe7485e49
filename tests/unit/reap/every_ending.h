// Every command that can end something, asked about one machine: who would be ended. For tests that nobody
// innocent ever is.
#pragma once

#include <set>
#include <vector>

#include "base/text.h"
#include "base/words.h"
#include "reap/copies.h"
#include "reap/ownership.h"
#include "reap/selection.h"
#include "reap/watch.h"
#include "survey/survey.h"

namespace corral::reap {

/// As who_asks() says it: each ending takes back by itself what nobody has asked for.
inline const survey::Asker kMe{.own_uid = 1000, .asked = true};

/// All processes of the trees that the groups would end.
inline std::set<pid_t> trees_of(const survey::Survey& survey, const Selection& selection) {
  std::set<pid_t> pids;
  for (const Group& group : selection.groups) {
    for (const std::size_t index : group.end) {
      pids.insert(survey.servers[index].tree.begin(), survey.servers[index].tree.end());
    }
  }
  return pids;
}

/// `corral reap` and the control tool of that name.
inline std::set<pid_t> ended_by_reap(const survey::Survey& survey, const Selectors& selectors,
                                     const survey::Asker& asker) {
  return trees_of(survey, select(survey, selectors, asker));
}

/// `corral watch --foreign end` and the daemon's `"foreign": "end"`, at the second look.
inline std::set<pid_t> ended_by_watch(const survey::Survey& survey, const Selectors& selectors,
                                      const survey::Asker& asker) {
  LeakWatch watch(selectors, asker);
  watch.look(survey);
  return trees_of(survey, watch.look(survey).selection);
}

/// `corral run --cleanup`, for every command that runs on the machine.
inline std::set<pid_t> ended_by_cleanup(const survey::Snapshot& snapshot, const survey::Survey& survey,
                                        std::size_t keep, const survey::Asker& asker) {
  std::set<pid_t> pids;
  for (const auto& [pid, command] : snapshot.commands) {
    for (const std::size_t index : choose_copies(survey, command, keep, asker).end) {
      pids.insert(survey.servers[index].tree.begin(), survey.servers[index].tree.end());
    }
  }
  return pids;
}

/// Recovery after a daemon was killed, of the instance that `claim` says; also inside its cgroup, where it
/// needs no mark.
inline std::set<pid_t> ended_by_recovery(const survey::Snapshot& snapshot, const Claim& claim,
                                         const std::set<pid_t>& cgroup, const survey::Asker& asker) {
  std::set<pid_t> pids;
  for (const survey::Process& process : snapshot.processes.all()) {
    const auto found = snapshot.details.find(process.pid);
    const survey::Details details = found == snapshot.details.end() ? survey::Details() : found->second;
    Bearer bearer;
    bearer.pid = process.pid;
    bearer.state = process.state;
    bearer.real = bearer.effective = process.uid;
    bearer.tracer = details.tracer;
    bearer.start_ticks = process.start_ticks;
    bearer.cookie = variable(details.environment, "CORRAL_INSTANCE");
    bearer.rlimit_tag = details.rttime_limit == ~std::uint64_t{0} ? 0 : details.rttime_limit;
    bearer.own = contains(asker.own_ancestors, process.pid);
    const bool in_group = cgroup.contains(process.pid) && !protection_in_group(bearer);
    if (in_group || judge(bearer, claim) == Verdict::Ours) pids.insert(process.pid);
  }
  return pids;
}

}  // namespace corral::reap
