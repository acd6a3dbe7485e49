// Which servers `corral reap` and `corral watch` may end: a pure choice, made before anything is touched.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "survey/findings.h"
#include "survey/protection.h"
#include "survey/survey.h"

namespace corral::reap {

struct Selectors {
  bool orphans = false;  // neither this nor the next means both
  bool pile_ups = false;
  bool possible = false;    // also those that only look like servers
  std::string client = {};  // id or name of a client; empty = any
  std::string match = {};   // part of the command line or server name; empty = any
  std::chrono::milliseconds older_than{0};
  pid_t parent = 0;  // only servers of this client process
  std::size_t keep = survey::kDefaultKeep;
  bool explicit_choice = false;  // the user named at least one of these
};

/// Whether the filters let a server through, whatever its state and certainty.
bool is_wanted(const survey::Server& server, const Selectors& selectors);

/// Servers of one client that run one command: what a person is asked about.
struct Group {
  enum class Kind : std::uint8_t { Orphans, PileUp };

  Kind kind = Kind::Orphans;
  std::string client;             // "Codex", "Claude Code (pid 812)"
  std::string command;            // name of the server
  std::vector<std::size_t> end;   // indexes into Survey::servers, oldest first
  std::vector<std::size_t> keep;  // the newest, of a pile-up
};

struct Spared {
  std::size_t server;
  std::string reason;
};

struct Selection {
  std::vector<Group> groups;   // oldest first
  std::vector<Spared> spared;  // would have been chosen, and must not be touched
};

/// This process, its ancestors and its user: what the rule in survey/protection.h asks about us. As asked for
/// by a person; Watch and choose_copies (copies.h) take that back.
survey::Asker who_asks();

/// Nothing that a protection holds for is chosen, whatever is asked for.
Selection select(const survey::Survey& survey, const Selectors& selectors, const survey::Asker& asker);

}  // namespace corral::reap
