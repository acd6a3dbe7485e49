// The ways to reach the server that are compared, and how a session of each is started.
#pragma once

#include <string>
#include <vector>

#include "child.h"
#include "options.h"

namespace corral::bench {

struct Variant {
  std::string name;   // for the table
  std::string level;  // containment level, empty for a raw pipe
  bool own_session =
      false;  // raw pipe to a server in a session of its own, which corral's servers always have
  bool is_corral() const { return !level.empty(); }
};

/// Everything that the measurements share. Made once by main.
struct Bench {
  Options options;
  std::string tag;      // in the environment and the server's argv of everything that we start
  std::string scratch;  // a private directory for reports, removed at the end
  Variant raw{"raw pipe", ""};
  Variant control{"raw pipe again", ""};  // the same thing twice: what differs between the two is noise
  Variant raw_session{"raw pipe, own session", "", true};
  std::vector<Variant> levels;       // the containment levels that work on this machine
  std::vector<std::string> missing;  // why others don't

  int rounds(int full, int quick) const { return options.quick ? quick : full; }

  /// The three raw pipes, then the levels, rotated by `round`, so that no variant always comes first.
  std::vector<const Variant*> in_turn(int round) const;
};

struct SessionSettings {
  std::vector<std::string> corral_args;  // options of `corral run`; ignored for a raw pipe
  std::vector<std::string> server_args;
  std::string stderr_file;  // empty: our own stderr
};

Child start_session(const Bench& bench, const Variant& variant, const SessionSettings& settings = {});

/// Tries one session per level and fills `levels` and `missing`.
void probe_levels(Bench& bench);

/// The text after `"key":` in a report line, up to the next comma or brace at that depth. Empty if absent.
std::string report_field(const std::string& report, const std::string& key);

}  // namespace corral::bench
