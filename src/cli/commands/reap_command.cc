// `corral reap`: ends leaked MCP servers, and nothing else.
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>

#include "base/text.h"
#include "base/units.h"
#include "cli/commands/reap_options.h"
#include "cli/commands/reap_tips.h"
#include "cli/frame/command.h"
#include "cli/frame/confirm.h"
#include "cli/frame/option_values.h"
#include "cli/screen/page.h"
#include "cli/screen/server_table.h"
#include "reap/end_trees.h"
#include "reap/selection.h"

namespace corral::cli {
namespace {

using reap::EndedTree;
using reap::Group;
using reap::Selection;
using survey::Server;
using survey::Survey;

constexpr const char* kExamples = R"(Examples:
  corral reap                                  shows all servers, and asks for each group (on a terminal)
  corral reap --orphans --yes                  ends all orphans
  corral reap --pile-ups --keep 3 --yes        leaves the 3 newest copies per client
  corral reap --client codex --older-than 2h   only those of Codex that are older than two hours

Without --yes and without a terminal, nothing is ended. Servers are ended with everything below them, the oldest first, with
SIGTERM and then SIGKILL. reap never touches a process that belongs to another user, is being debugged, is an ancestor of
this command, is below a running `corral run`, is in a container, contains a client, is part of a shell's pipeline, accepts
connections on a socket, does a different job from the one in a configuration, or whose pid has been reused (docs/doctor.md).
Exit code: 0; 1 if a selected server could not be ended; 125 for invalid arguments or if corral failed.)";

struct ReapOptions {
  reap::Selectors selectors;
  std::optional<std::size_t> keep;  // the value of --keep
  reap::Graces graces;
  bool yes = false;
  bool dry_run = false;
  bool verbose = false;
};

Rows rows(const ReapOptions& options) { return options.verbose ? Rows::All : Rows::Few; }

std::vector<std::size_t> chosen_of(const std::vector<Group>& groups) {
  std::vector<std::size_t> chosen;
  for (const Group& group : groups) chosen.insert(chosen.end(), group.end.begin(), group.end.end());
  std::sort(chosen.begin(), chosen.end());  // the survey is sorted, oldest first
  return chosen;
}

std::string describe(const Survey& survey, const Group& group) {
  const bool orphans = group.kind == Group::Kind::Orphans;
  const std::string what =
      count(group.end.size(), orphans ? "orphan" : "copy", orphans ? "orphans" : "copies");
  const std::string whose =
      !orphans ? " beyond the newest " + std::to_string(group.keep.size()) + ", held by " + group.client
      : group.client == "unknown" ? ""
                                  : ", left by " + group.client;
  return what + " of " + group.command + whose + ": " + sum_of(survey, group.end);
}

void show_found(Page& page, const Survey& survey, const ReapOptions& options) {
  std::vector<std::size_t> all(survey.servers.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  page.heading("Found: " + count(all.size(), "MCP server", "MCP servers"));
  if (all.empty()) return;
  page.paragraph("  ", sum_of(survey, all));
  show_servers(page, survey, all, rows(options));
}

void show_kept(Page& page, const Survey& survey, const Selection& selection, const ReapOptions& options) {
  const std::vector<std::size_t> chosen = chosen_of(selection.groups);
  reap::Selectors everything;
  everything.keep = options.selectors.keep;
  const std::vector<std::size_t> leaky = chosen_of(reap::select(survey, everything, reap::who_asks()).groups);
  std::vector<std::size_t> kept;
  std::map<std::string, std::size_t> reasons;
  for (std::size_t i = 0; i < survey.servers.size(); ++i) {
    if (std::binary_search(chosen.begin(), chosen.end(), i)) continue;
    kept.push_back(i);
    const auto spared = std::find_if(selection.spared.begin(), selection.spared.end(),
                                     [i](const reap::Spared& other) { return other.server == i; });
    const auto leaked = std::binary_search(leaky.begin(), leaky.end(), i) ? Leaked::Yes : Leaked::No;
    ++reasons[spared != selection.spared.end() ? spared->reason
                                               : why_kept(survey.servers[i], leaked, options.selectors)];
  }
  page.blank();
  page.heading("Kept: " + count(kept.size(), "server", "servers"));
  for (const auto& [reason, number] : reasons) page.paragraph("  " + std::to_string(number) + "  ", reason);
  if (options.verbose && !kept.empty()) show_servers(page, survey, kept, Rows::All);
}

Consent ask_about(Page& page, const Survey& survey, const Group& group) {
  page.blank();
  page.paragraph("", describe(survey, group));
  return ask(group.end.size() == 1 ? "End it?" : "End these?", "groups");
}

std::vector<Group> confirmed(Page& page, const Survey& survey, const std::vector<Group>& groups) {
  std::vector<Group> agreed;
  bool all = false;
  for (const Group& group : groups) {
    const Consent answer = all ? Consent::Yes : ask_about(page, survey, group);
    if (answer == Consent::Quit) break;
    all |= answer == Consent::All;
    if (answer != Consent::No) agreed.push_back(group);
  }
  return agreed;
}

void show_dry_run(Page& page, const Survey& survey, const Selection& selection) {
  page.blank();
  page.heading("Ended: nothing (dry run). Would end " +
               count(chosen_of(selection.groups).size(), "server", "servers"));
  for (const Group& group : selection.groups) page.paragraph("  ", describe(survey, group));
}

/// True if all selected servers are gone.
bool show_ended(Page& page, const Survey& survey, const std::vector<std::size_t>& chosen,
                const std::vector<EndedTree>& ended, const ReapOptions& options) {
  std::size_t trees = 0;
  std::map<std::string, std::size_t> how;
  std::vector<std::string> failures;
  for (std::size_t i = 0; i < ended.size(); ++i) {
    trees += ended[i].gone() ? 1 : 0;
    for (const reap::Outcome& outcome : ended[i].outcomes) {
      if (outcome.gone()) {
        ++how[explain(outcome)];
      } else {
        failures.push_back(std::to_string(outcome.pid) + " (" + printable(outcome.comm) + ") of " +
                           name_of(survey.servers[chosen[i]]) + ": " + explain(outcome));
      }
    }
  }
  page.blank();
  page.heading("Ended: " + count(trees, "server", "servers"));
  for (const auto& [reason, number] : how) {
    page.paragraph("  ", count(number, "process", "processes") + " " + reason);
  }
  if (!chosen.empty()) show_servers(page, survey, chosen, rows(options));
  for (const std::string& failure : failures) page.paragraph("  not ended  ", failure);
  return failures.empty();
}

/// Surveys the machine again, so that the report shows what is really left.
void show_remaining(Page& page) {
  const Result<Survey> survey = survey::look_around();
  page.blank();
  if (!survey) {
    page.heading("Remaining: unknown");
    page.paragraph("  ", survey.error().message);
    return;
  }
  std::map<std::string, std::vector<std::size_t>> states;
  for (std::size_t i = 0; i < survey->servers.size(); ++i) {
    states[client_of(survey->servers[i]) + " | " + name_of(survey->servers[i])].push_back(i);
  }
  page.heading("Remaining: " + count(survey->servers.size(), "MCP server", "MCP servers"));
  for (const auto& [who, servers] : states) {
    page.paragraph("  " + std::to_string(servers.size()) + "  ", who + " | " + sum_of(*survey, servers));
  }
}

int end_and_show(Page& page, const Survey& survey, const std::vector<Group>& groups,
                 const ReapOptions& options) {
  const std::vector<std::size_t> chosen = chosen_of(groups);
  std::vector<const Server*> servers;
  servers.reserve(chosen.size());
  for (const std::size_t index : chosen) servers.push_back(&survey.servers[index]);
  const std::vector<EndedTree> ended = reap::end_trees(servers, options.graces);
  const bool all = show_ended(page, survey, chosen, ended, options);
  show_remaining(page);
  show_tips(page, survey, options.selectors, groups, ended);
  return all ? 0 : 1;
}

/// The servers that the user agreed to end and that are still selected: answering may have taken minutes.
std::vector<Group> still_chosen(const Survey& then, const std::vector<Group>& agreed, const Survey& now,
                                const std::vector<Group>& chosen) {
  std::vector<Group> groups;
  for (Group group : chosen) {
    std::erase_if(group.end, [&](std::size_t index) {
      const auto same = [&](std::size_t other) {
        return then.servers[other].identities.front() == now.servers[index].identities.front();
      };
      return std::none_of(agreed.begin(), agreed.end(), [&](const Group& asked) {
        return std::any_of(asked.end.begin(), asked.end.end(), same);
      });
    });
    if (!group.end.empty()) groups.push_back(std::move(group));
  }
  return groups;
}

/// Asks for each group, surveys the machine again, and ends what the user agreed to.
int ask_and_end(Page& page, const Survey& survey, const std::vector<Group>& groups,
                const ReapOptions& options) {
  const std::vector<Group> agreed = confirmed(page, survey, groups);
  const Result<Survey> now = survey::look_around();
  if (!now) return fail("reap", now.error().message);
  const Selection selection = reap::select(*now, options.selectors, reap::who_asks());
  return end_and_show(page, *now, still_chosen(survey, agreed, *now, selection.groups), options);
}

int run(const ReapOptions& options) {
  if (options.yes && !options.selectors.explicit_choice) {
    return fail(
        "reap",
        "--yes requires a selection: add at least one of --orphans, --pile-ups, --keep, --client, --match, "
        "--older-than, --parent");
  }
  const Result<Survey> survey = survey::look_around();
  if (!survey) return fail("reap", survey.error().message);
  const Selection selection = reap::select(*survey, options.selectors, reap::who_asks());
  Page page(std::cout, terminal_style(STDOUT_FILENO));
  show_found(page, *survey, options);
  show_kept(page, *survey, selection, options);
  if (options.yes && !options.dry_run) return end_and_show(page, *survey, selection.groups, options);

  if (options.dry_run || !can_ask() || selection.groups.empty()) {
    show_dry_run(page, *survey, selection);
    page.blank();
    page.heading("Remaining: " + count(survey->servers.size(), "MCP server", "MCP servers"));
    show_tips(page, *survey, options.selectors, selection.groups, {});
    return 0;
  }
  return ask_and_end(page, *survey, selection.groups, options);
}

}  // namespace

Command reap_command() {
  auto options = std::make_shared<ReapOptions>();
  Command command;
  command.name = "reap";
  command.summary = "End leaked MCP servers: orphans, and copies beyond the newest N.";
  command.usage = "corral reap [options]";
  command.examples = kExamples;
  command.options = selector_options(options->selectors, options->keep);
  const std::vector<Option> own = {
      {"-y,--yes", "",
       "End the selected servers without asking; requires at least one of the selectors above",
       set_flag(options->yes)},
      {"--dry-run", "", "Only show what would be ended", set_flag(options->dry_run)},
      {"--term-grace", "TIME", "Time between SIGTERM and SIGKILL (2s)", set_duration(options->graces.term)},
      {"--kill-grace", "TIME", "Time to wait after SIGKILL before reporting what did not end (2s)",
       set_duration(options->graces.kill)},
      {"-v,--verbose", "", "Show every server, including the middle of long lists",
       set_flag(options->verbose)},
  };
  command.options.insert(command.options.end(), own.begin(), own.end());
  command.run = [options](const std::vector<std::string>& args) {
    const Result<std::size_t> keep = keep_count(options->keep);
    if (!keep) return fail("reap", keep.error().message);
    options->selectors.keep = *keep;
    const Result<void> none = expect_no_args(args);
    if (!none) return fail("reap", none.error().message);
    const int code = run(*options);
    return code;
  };
  return command;
}

}  // namespace corral::cli
