// What `corral add`, `import` and `config check` can say about an entry before it is used: whether its
// command and its variables can be resolved by this client, and, on request, whether it starts. The daemon
// resolves both again, with the environment of the client that connects.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/frame/interrupts.h"
#include "cli/screen/page.h"
#include "config/configuration.h"
#include "config/credentials.h"

namespace corral::cli {

/// The environment of this process as an entry would see it: with CORRAL_ROOT.
std::vector<std::string> client_environment();

/// Sentences that name the server, the cause and what to do; none if everything can be resolved.
std::vector<std::string> doubts_about(const config::Server& server,
                                      const std::vector<std::string>& environment);

/// The sentence about a credential in plain text. `file` is where it is stored.
std::string credential_warning(const std::string& server, const config::PlainCredential& credential,
                               const std::string& file);

/// Those sentences about every credential that the entry has in plain text.
std::vector<std::string> credential_warnings(const config::Server& server, const std::string& file);

/// Starts the server once, privately, asks for its tools, and ends it. The text is "ready in 1.2s, 14 tools;
/// it has been ended, and no process is left", or the error says why it failed, with its last lines on
/// stderr. At most one at a time.
Result<std::string> try_server(const config::Server& server, Interrupts& interrupts);

}  // namespace corral::cli
