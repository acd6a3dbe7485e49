// Selects the servers that `corral reap` and `corral watch` may end. Pure: runs before anything is signalled.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/keep_limit.h"
#include "survey/findings.h"
#include "survey/protection.h"
#include "survey/survey.h"

namespace corral::reap {

struct Selectors {
  bool orphans = false;  // if both this and the next are false, both apply
  bool pile_ups = false;
  bool possible = false;    // also processes that only look like servers
  std::string client = {};  // id or name of a client; empty = any
  std::string match = {};   // part of the command line or of the server name; empty = any
  std::chrono::milliseconds older_than{0};
  pid_t parent = 0;  // only servers of this client process; 0 = any
  std::size_t keep = kDefaultKeep;
  bool explicit_choice = false;  // the user gave at least one of these
};

/// Whether a server passes the filters, regardless of its state and certainty.
bool is_wanted(const survey::Server& server, const Selectors& selectors);

/// Servers of one client that run the same command: the user is asked about each group.
struct Group {
  enum class Kind : std::uint8_t { Orphans, PileUp };

  Kind kind = Kind::Orphans;
  std::string client;             // "Codex", "Claude Code (pid 812)"
  std::string command;            // name of the server
  std::vector<std::size_t> end;   // indexes into Survey::servers, oldest first
  std::vector<std::size_t> keep;  // the newest ones of a pile-up
};

struct Spared {
  std::size_t server;
  std::string reason;
};

struct Selection {
  std::vector<Group> groups;   // oldest first
  std::vector<Spared> spared;  // matched, but must not be ended
};

/// This process, its ancestors and its user: the input of the rule in survey/protection.h. Counts as
/// requested by the user; LeakWatch and choose_copies (copies.h) override that.
survey::Asker who_asks();

/// Never selects a protected server, whatever the selectors say.
Selection select(const survey::Survey& survey, const Selectors& selectors, const survey::Asker& asker);

}  // namespace corral::reap
