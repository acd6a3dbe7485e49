// Where the daemon keeps what it has learned, from one run to the next.
#pragma once

#include <string>

namespace corral::serve {

/// $XDG_STATE_HOME/corral, else ~/.local/state/corral. Empty without a home: then nothing is kept. A relative
/// path counts as none, because the daemon's folder is not that of the person who wrote it.
std::string default_state_directory();

/// The same for a daemon with this runtime folder: one that is not the user's usual one is a world of its
/// own.
std::string state_directory_for(const std::string& runtime_dir);

}  // namespace corral::serve
