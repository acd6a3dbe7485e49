// What a client or a server says about itself in its handshake: which clients a server cannot tell apart, and
// which version a server has. Pure; any thread may call.
#pragma once

#include <string>
#include <string_view>

#include "wire/revisions.h"

namespace corral::knowledge {

using wire::Era;

/// The same text for clients that a server cannot tell apart by what they can do: the normalised set of
/// {sampling, sampling.tools, elicitation.form, elicitation.url, roots, the names of extensions}; for a
/// legacy server also the revision that the client asked for. `initialize_params` is JSON. No capability at
/// all: "plain".
std::string profile_of(Era era, std::string_view initialize_params);

/// The clientInfo.name in it; empty if there is none.
std::string client_name(std::string_view initialize_params);

/// Out of the result of its handshake, of either era; empty if it says none.
std::string version_in(std::string_view handshake_result);

/// Why a server that says this is not to be used, as a sentence; empty if it may be. Without a version, or
/// with one that cannot be compared, nobody can know, and it is refused.
std::string objection_to_version(const std::string& server, std::string_view handshake_result,
                                 const std::string& least);

}  // namespace corral::knowledge
