// The rows of `corral ps`: one for each server, with what all its processes use together, or one for each
// process. Pure.
#pragma once

#include <string>
#include <vector>

#include "cli/screen/overview.h"

namespace corral::cli {

/// The cells of one row, and what is said about it. "-" = there is none, or it is not known.
struct PsRow {
  std::string server{};
  std::string pid{};  // of several processes their number: "3 pids"
  std::string processes{};
  std::string level{};
  std::string share{};
  std::string sessions{};
  std::string clients{};
  std::string age{};  // of the oldest
  std::string memory{};
  std::string cpu{};
  std::string state{};  // "ready"; of several "ready x2, idle"
  std::string code{};
  std::string reason{};
  Tone state_tone = Tone::Plain;
  bool stale = false;
  std::vector<std::string> why{};  // why the process is shared or private, as in `corral why`
  std::string root{};              // the project that it belongs to; empty = none
  bool runs = false;               // there is a process, so it has a level and a code
};

/// A server with several processes, or with sessions that have none, is one row.
std::vector<PsRow> rows_by_server(const Overview& overview);

/// One row for each process, and one for each server and state of sessions without a process.
std::vector<PsRow> rows_by_process(const Overview& overview);

}  // namespace corral::cli
