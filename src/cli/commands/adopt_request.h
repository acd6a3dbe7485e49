// What `corral adopt` and `corral release` have in common: whose files they change, and whether they may.
#pragma once

#include <string>
#include <vector>

#include "adopt/adoption.h"
#include "adopt/drift.h"
#include "base/result.h"
#include "cli/frame/command.h"

namespace corral::cli {

/// The exit codes besides kOwnFailure. Something refused takes precedence over something changed.
inline constexpr int kChanged = 0;
inline constexpr int kLeftAlone = 1;
inline constexpr int kNothingToChange = 3;

struct AdoptRequest {
  std::vector<std::string> clients;  // ids; empty = all
  bool all = false;
  bool yes = false;
  bool dry_run = false;
  bool json = false;

  /// Whether files are written without a question, after one, or not at all.
  enum class Mode { Write, Ask, Show };
  Mode mode() const;
};

/// --all, --yes, --dry-run and --json, which write to `request`: it must outlive them.
std::vector<Option> options_of(AdoptRequest& request);

/// Takes the names of clients, which may be short ("claude"). An error if a client is not known, or if --yes
/// does not say whose files.
Result<void> take_clients(AdoptRequest& request, const std::vector<std::string>& names);

/// The argument of both commands: the id of a client.
Argument client_argument();

/// Where changes are written down, and the present time.
Result<adopt::Desk> open_desk();

/// What is adopted for these clients, with what is in the files now.
Result<adopt::Comparison> find_rows(const AdoptRequest& request, const adopt::Desk& desk);

}  // namespace corral::cli
