// What a client or a server says about itself in its handshake: which clients a server cannot tell apart, and
// which version a server has. Pure; any thread may call.
#pragma once

#include <string>
#include <string_view>

#include "wire/revisions.h"

namespace corral::knowledge {

using wire::Era;

/// The profile of a client: the same text for clients with the same capabilities, which a server cannot tell
/// apart. It is the normalised set of {sampling, sampling.tools, elicitation.form, elicitation.url, roots,
/// the names of extensions}, and for a legacy server also the revision that the client asked for. "plain" =
/// no capability. `initialize_params` is JSON.
std::string profile_of(Era era, std::string_view initialize_params);

/// The clientInfo.name in these parameters; empty if there is none.
std::string client_name(std::string_view initialize_params);

/// The version of a server, from the result of its handshake in either era; empty if it reports none.
std::string version_in(std::string_view handshake_result);

/// Why a server with this handshake result must not be used, as a sentence; empty if it may be used. A server
/// that reports no version, or one that cannot be compared with `least`, is refused.
std::string objection_to_version(const std::string& server, std::string_view handshake_result,
                                 const std::string& least);

}  // namespace corral::knowledge
