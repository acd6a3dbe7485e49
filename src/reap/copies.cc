#include "reap/copies.h"

#include "known/known_programs.h"
#include "reap/selection.h"
#include "survey/snapshot.h"

namespace corral::reap {
namespace {

using known::ServerCommand;
using survey::Server;
using survey::Survey;

/// The directories of programs that the system provides for many purposes.
bool is_a_system_program(const std::string& path) {
  for (const char* folder : {"/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/snap/bin/"}) {
    if (path.starts_with(folder)) return true;
  }
  return false;
}

/// A script or a dedicated program is the same server even with other options and paths (S1.1), unless it
/// does another job: `dart language-server` is not a copy of `dart mcp-server`. A system program is used for
/// many purposes, so its arguments must match too: `ssh host server` is not a copy of another ssh.
bool runs_the_same(const known::ServerCommand& wanted, const known::ServerCommand& command) {
  if (wanted.key.empty() || wanted.key != command.key) return false;
  const survey::Arguments match = survey::compare_arguments(wanted.arguments, command.arguments);
  if (match == survey::Arguments::Same) return true;
  const bool own_program = command.key.starts_with("file:") && !is_a_system_program(command.script);
  const bool speaks_mcp =
      wanted.depends_on_mcp || command.depends_on_mcp || known::looks_like_a_server(command.name);
  return match == survey::Arguments::Alike && (own_program || speaks_mcp);
}

}  // namespace

std::vector<std::size_t> copies_of(const Survey& survey, const known::ServerCommand& command, uid_t uid) {
  std::vector<std::size_t> copies;
  for (std::size_t i = 0; i < survey.servers.size(); ++i) {
    const Server& server = survey.servers[i];
    const bool is_server = server.certainty == Server::Certainty::Confirmed;
    if (!is_server || server.uid != uid || server.in_container || server.state == Server::State::Apart)
      continue;
    if (runs_the_same(command, server.command)) copies.push_back(i);
  }
  return copies;
}

Copies choose_copies(const Survey& survey, const known::ServerCommand& command, std::size_t keep,
                     const survey::Asker& asker) {
  survey::Asker unasked = asker;
  unasked.asked = false;  // the user asked for a new server, not for the end of others
  const std::vector<std::size_t> all = copies_of(survey, command, asker.own_uid);
  const std::size_t stay = keep == 0 ? 0 : keep - 1;
  const std::size_t excess = all.size() > stay ? all.size() - stay : 0;
  Copies copies{all.size(), {}};
  for (std::size_t i = 0; i < excess; ++i) {
    if (!survey::protection_of(survey.servers[all[i]], unasked)) copies.end.push_back(all[i]);
  }
  return copies;
}

Result<Cleanup> clean_up_copies(const std::vector<std::string>& argv, const std::string& directory,
                                const std::string& path, std::size_t keep) {
  const Result<survey::Snapshot> snapshot = survey::take_snapshot(survey::own_places());
  if (!snapshot) return snapshot.error();
  const known::ServerCommand command = known::understand(argv, "", directory, path);
  const survey::Asker asker = who_asks();
  Survey survey = survey::judge(*snapshot);
  std::vector<Server> all;
  for (const std::size_t index : copies_of(survey, command, asker.own_uid)) {
    all.push_back(std::move(survey.servers[index]));
  }
  survey.servers = std::move(all);
  survey::examine(survey, *snapshot);
  const Copies copies = choose_copies(survey, command, keep, asker);
  Cleanup cleanup;
  cleanup.found = copies.found;
  for (const std::size_t index : copies.end) cleanup.chosen.push_back(survey.servers[index]);
  std::vector<const Server*> chosen;
  chosen.reserve(cleanup.chosen.size());
  for (const Server& server : cleanup.chosen) chosen.push_back(&server);
  cleanup.ended = end_trees(chosen, Graces{});
  return cleanup;
}

}  // namespace corral::reap
