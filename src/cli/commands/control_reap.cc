#include "cli/commands/control_daemon.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/keep_limit.h"
#include "base/units.h"
#include "cli/commands/reap_options.h"
#include "cli/screen/server_table.h"
#include "reap/end_trees.h"
#include "reap/selection.h"
#include "wire/json_writer.h"

namespace corral::cli {
namespace {

using observe::tool_failure;
using observe::ToolResult;

struct Chosen {
  std::size_t server = 0;  // index into Survey::servers
  reap::Group::Kind kind = reap::Group::Kind::Orphans;
};

struct ReapWish {
  reap::Selectors selectors;
  bool confirm = false;
};

Result<ReapWish> read_wish(const boost::json::object& arguments) {
  const Result<std::size_t> keep = keep_count(std::nullopt);
  if (!keep) return keep.error();
  ReapWish request;
  reap::Selectors& selectors = request.selectors;
  request.confirm = observe::flag_argument(arguments, "confirm");
  selectors.orphans = observe::flag_argument(arguments, "orphans");
  selectors.pile_ups = observe::flag_argument(arguments, "pile_ups");
  selectors.client = observe::text_argument(arguments, "client");
  selectors.match = observe::text_argument(arguments, "match");
  const std::int64_t kept = observe::number_argument(arguments, "keep", static_cast<std::int64_t>(*keep));
  selectors.keep = keep_in_use(static_cast<std::size_t>(std::max<std::int64_t>(kept, 0)));
  const std::string age = observe::text_argument(arguments, "older_than");
  if (!age.empty()) {
    const Result<std::chrono::milliseconds> older = parse_age(age);
    if (!older) return Error{"tool reap: argument \"older_than\": " + older.error().message};
    selectors.older_than = *older;
  }
  selectors.explicit_choice = selectors.orphans || selectors.pile_ups || !selectors.client.empty() ||
                              !selectors.match.empty() || !age.empty() || arguments.contains("keep");
  if (request.confirm && !selectors.explicit_choice) {
    return Error{
        "tool reap: confirm requires a selection: add at least one of orphans, pile_ups, older_than, client, "
        "match, keep; without confirm the tool only shows the servers"};
  }
  return {boost::system::in_place_value, std::move(request)};
}

std::vector<Chosen> oldest_first(const std::vector<reap::Group>& groups) {
  std::vector<Chosen> chosen;
  for (const reap::Group& group : groups) {
    for (const std::size_t index : group.end) chosen.push_back({index, group.kind});
  }
  std::sort(chosen.begin(), chosen.end(),
            [](const Chosen& a, const Chosen& b) { return a.server < b.server; });
  return chosen;
}

const char* kind_name(reap::Group::Kind kind) {
  return kind == reap::Group::Kind::Orphans ? "orphan" : "pile-up";
}

std::string chosen_json(const survey::Survey& survey, const std::vector<Chosen>& chosen) {
  return wire::array_of(chosen, [&survey](const Chosen& one) {
    const survey::Server& server = survey.servers[one.server];
    return wire::JsonObject()
        .number("pid", server.pid)
        .text("name", name_of(server))
        .text("why", kind_name(one.kind))
        .text("client", client_of(server))
        .number("processes", server.tree.size())
        .number("memory", server.memory.footprint())
        .number("age_ms", server.age.count())
        .json();
  });
}

std::string spared_json(const survey::Survey& survey, const std::vector<reap::Spared>& spared) {
  return wire::array_of(spared, [&survey](const reap::Spared& one) {
    const survey::Server& server = survey.servers[one.server];
    return wire::JsonObject()
        .number("pid", server.pid)
        .text("name", name_of(server))
        .text("reason", one.reason)
        .json();
  });
}

std::string outcome_json(const reap::Outcome& outcome) {
  return wire::JsonObject().number("pid", outcome.pid).text("outcome", reap::name_of(outcome.kind)).json();
}

std::string ended_json(const reap::EndedTree& tree) {
  return wire::JsonObject()
      .number("pid", tree.pid)
      .flag("gone", tree.gone())
      .raw("processes", wire::array_of(tree.outcomes, outcome_json))
      .json();
}

std::string describe_chosen(const survey::Survey& survey, const Chosen& chosen) {
  const survey::Server& server = survey.servers[chosen.server];
  return "\n  pid " + std::to_string(server.pid) + " " + name_of(server) + ", " + kind_name(chosen.kind) +
         " of " + client_of(server) + ", " + count(server.tree.size(), "process", "processes") + ", " +
         show_size(server.memory.footprint()) + ", " + show_age(server.age) + " old";
}

std::string found_in(const survey::Survey& survey) {
  return count(survey.servers.size(), "MCP server", "MCP servers") + " found; ";
}

std::string headline_of_dry_run(const survey::Survey& survey, const std::vector<Chosen>& chosen) {
  return found_in(survey) + "dry run, nothing was ended; would end " +
         count(chosen.size(), "server", "servers") +
         (chosen.empty() ? "" : "; call again with confirm and a selection to end them");
}

std::string headline(const survey::Survey& survey, const std::vector<reap::EndedTree>& ended) {
  const auto gone =
      std::count_if(ended.begin(), ended.end(), [](const reap::EndedTree& t) { return t.gone(); });
  return found_in(survey) + "ended " + count(static_cast<std::size_t>(gone), "server", "servers");
}

}  // namespace

ToolResult reap_tool(const boost::json::object& arguments) {
  const Result<ReapWish> request = read_wish(arguments);
  if (!request) return tool_failure(request.error().message);
  const Result<survey::Survey> survey = survey::look_around();
  if (!survey) return tool_failure(survey.error().message);
  survey::Asker asker = reap::who_asks();
  asker.asked = false;  // the request comes from a model, not from a person
  const reap::Selection selection = reap::select(*survey, request->selectors, asker);
  const std::vector<Chosen> chosen = oldest_first(selection.groups);

  std::vector<reap::EndedTree> ended;
  if (request->confirm) {
    std::vector<const survey::Server*> servers;
    servers.reserve(chosen.size());
    for (const Chosen& one : chosen) servers.push_back(&survey->servers[one.server]);
    ended = reap::end_trees(servers, {});
  }

  ToolResult result;
  result.text = request->confirm ? headline(*survey, ended) : headline_of_dry_run(*survey, chosen);
  for (const Chosen& one : chosen) result.text += describe_chosen(*survey, one);
  for (const reap::EndedTree& tree : ended) {
    for (const reap::Outcome& outcome : tree.outcomes) {
      if (outcome.gone()) continue;
      result.failed = true;
      result.text += "\n  not ended: process " + std::to_string(outcome.pid) + ": " + explain(outcome);
    }
  }
  result.structured = wire::JsonObject()
                          .flag("dry_run", !request->confirm)
                          .number("found", survey->servers.size())
                          .raw("chosen", chosen_json(*survey, chosen))
                          .raw("spared", spared_json(*survey, selection.spared))
                          .raw("ended", wire::array_of(ended, ended_json))
                          .json();
  return result;
}

}  // namespace corral::cli
