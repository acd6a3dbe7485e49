#include "cli/commands/reap_tips.h"

#include <algorithm>

#include "cli/commands/reap_options.h"
#include "survey/protection.h"

namespace corral::cli {
namespace {

using reap::Group;
using reap::Outcome;

bool any(const std::vector<Group>& groups, Group::Kind kind) {
  return std::any_of(groups.begin(), groups.end(), [kind](const Group& group) { return group.kind == kind; });
}

bool any(const std::vector<reap::EndedTree>& ended, Outcome::Kind kind) {
  return std::any_of(ended.begin(), ended.end(), [kind](const reap::EndedTree& tree) {
    return std::any_of(tree.outcomes.begin(), tree.outcomes.end(),
                       [kind](const Outcome& outcome) { return outcome.kind == kind; });
  });
}

bool any_container(const survey::Survey& survey, const std::vector<Group>& groups) {
  for (const Group& group : groups) {
    for (const std::size_t index : group.end) {
      const known::KnownLauncher* launcher = known::find_launcher(survey.servers[index].command.launcher);
      if (launcher != nullptr && launcher->kind == known::LauncherKind::Container) return true;
    }
  }
  return false;
}

/// The command that does the same without asking.
std::string command_for(reap::Selectors selectors, const std::vector<Group>& groups) {
  if (!selectors.orphans && !selectors.pile_ups) {
    selectors.orphans = any(groups, Group::Kind::Orphans);
    selectors.pile_ups = any(groups, Group::Kind::PileUp);
  }
  return "corral reap" + typed(selectors) + " --yes";
}

}  // namespace

std::string why_kept(const survey::Server& server, Leaked leaked, const reap::Selectors& selectors) {
  using survey::Server;
  if (leaked == Leaked::Yes) return "leaked, but not selected";
  if (server.state == Server::State::Kept)
    return "below a running corral, which ends them with their session";
  // No option selects these, although they are only possible servers, too.
  if (server.arguments == survey::Arguments::Other)
    return survey::reason_of(survey::Protection::OtherArguments, server);
  if (server.certainty == Server::Certainty::Possible)
    return "only look like MCP servers (--possible includes them)";
  const std::optional<survey::Protection> use = survey::use_of(server);
  if (use) return survey::reason_of(*use, server);
  if (server.state == Server::State::Apart) return "independent: no client holds their pipes";
  if (!server.client.alive()) return "in use by a process that corral cannot see";
  return "in use by a client, and not beyond its " + std::to_string(selectors.keep) + " newest";
}

void show_tips(Page& page, const survey::Survey& survey, const reap::Selectors& selectors,
               const std::vector<Group>& groups, const std::vector<reap::EndedTree>& ended) {
  if (groups.empty()) {
    page.blank();
    page.paragraph("tip: ",
                   survey.servers.empty()
                       ? "no MCP server is running; `corral doctor` shows what your clients would start"
                       : "nothing to end; `corral doctor -v` shows why each server is kept");
    return;
  }
  page.blank();
  if (ended.empty())
    page.command("tip: to end all of these without being asked: ", command_for(selectors, groups));
  if (any(groups, Group::Kind::Orphans)) {
    page.paragraph("tip: ",
                   "put `corral run --` before a server's command in its client's configuration, so that it "
                   "cannot be orphaned again");
  }
  if (any(groups, Group::Kind::PileUp)) {
    page.paragraph("tip: ", "`corral watch --foreign end` ends older copies for as long as it runs");
  }
  if (any_container(survey, groups)) {
    page.paragraph("tip: ", "a container may outlive its `docker run`; check `docker ps`");
  }
  if (any(ended, Outcome::Kind::OtherUser) || any(ended, Outcome::Kind::NoPermission)) {
    page.paragraph("tip: ", "to end processes of another user: sudo -u USER corral reap");
  }
  if (any(ended, Outcome::Kind::Uninterruptible)) {
    page.paragraph("tip: ",
                   "a process in state D waits for a device or network file system; check that first");
  }
}

}  // namespace corral::cli
