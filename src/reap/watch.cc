#include "reap/watch.h"

#include <algorithm>

#include "base/keep_limit.h"

namespace corral::reap {
namespace {

using survey::Server;

/// Two processes may have the same pid, but not the same pid and inode or start time.
std::string key_of(const Server& server) {
  if (server.identities.empty()) return std::to_string(server.pid);
  const proc::Identity& top = server.identities.front();
  return std::to_string(top.pid) + "/" + std::to_string(top.pidfs_inode) + "/" +
         std::to_string(top.start_ticks);
}

}  // namespace

Selectors unasked(std::size_t keep) {
  Selectors selectors;
  selectors.orphans = true;
  selectors.pile_ups = keep > 0;
  selectors.keep = keep_in_use(keep);  // more than this are only reported
  return selectors;
}

LeakWatch::Step LeakWatch::look(const survey::Survey& survey) {
  Step step;
  std::set<std::string> told;
  for (survey::Finding& finding : survey::find(survey, selectors_.keep)) {
    bool news = false;
    for (const std::size_t index : finding.servers) {
      const std::string key =
          std::string(survey::name_of(finding.kind)) + " " + key_of(survey.servers[index]);
      news |= !told_.contains(key) && is_wanted(survey.servers[index], selectors_);
      told.insert(key);
    }
    if (news) step.news.push_back(std::move(finding));
  }
  told_ = std::move(told);

  step.selection = select(survey, selectors_, asker_);
  std::set<std::string> orphans;
  for (const Server& server : survey.servers) {
    if (server.state == Server::State::Orphan) orphans.insert(key_of(server));
  }
  // A server whose client has just closed its pipes may be about to exit. It gets one interval for that.
  for (Group& group : step.selection.groups) {
    if (group.kind != Group::Kind::Orphans) continue;
    std::erase_if(group.end, [&](std::size_t index) {
      return !orphans_before_.contains(key_of(survey.servers[index]));
    });
  }
  std::erase_if(step.selection.groups, [](const Group& group) { return group.end.empty(); });
  orphans_before_ = std::move(orphans);
  return step;
}

}  // namespace corral::reap
