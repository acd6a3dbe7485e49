// What daemons have kept, for `events`, `logs` and `ps --last`: read from the registry's file, with and
// without a daemon. Reads only (registry/kept_records.h).
#pragma once

#include <boost/json/value.hpp>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/frame/daemon_command.h"
#include "cli/screen/last_page.h"

namespace corral::cli {

/// The state directory of the daemon of this runtime directory, if it was started without --state-dir. Empty
/// if the user has no home.
std::string usual_state_directory(const std::string& runtime_dir);

/// Where the registry is: as the daemon says in its `status`, or, without one, at its usual place.
Result<std::string> registry_file(const std::string& runtime_dir, const KnownStatus& status);

/// Calls `take` with every kept event as JSON, the oldest first.
Result<void> each_kept_event(const std::string& file,
                             const std::function<void(const boost::json::value&)>& take);

/// The last processes of each server, or of one server if `server` names one, and how it failed last.
Result<LastRuns> read_last_runs(const std::string& file, const KnownStatus& status,
                                const std::string& server = {});

/// How this server failed last, by the daemon's `status` or by the registry, whichever is newer.
std::optional<LastFailure> last_failure_of(const std::string& server, const std::string& runtime_dir,
                                           const KnownStatus& status);

/// `corral ps --last`; returns the exit code. All servers if `options` names none.
int show_last(const DaemonOptions& options);

}  // namespace corral::cli
