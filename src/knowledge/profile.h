// What a client says of itself that may change what a server shows it. Pure.
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

}  // namespace corral::knowledge
