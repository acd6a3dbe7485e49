#include "serve/state_directory.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "control/runtime_dir.h"

namespace corral::serve {

std::string default_state_directory() {
  const char* const state = getenv("XDG_STATE_HOME");
  if (state != nullptr && state[0] == '/') return std::string(state) + "/corral";
  const char* const home = getenv("HOME");
  if (home != nullptr && home[0] == '/') return std::string(home) + "/.local/state/corral";
  return {};
}

std::string state_directory_for(const std::string& runtime_dir) {
  const std::vector<std::string> usual = control::candidates("", geteuid());
  // A folder inside a usual one belongs to `serve -- COMMAND`, which shares what is known of servers.
  const std::string above = runtime_dir.substr(0, runtime_dir.rfind('/'));
  const bool own = std::none_of(usual.begin(), usual.end(), [&](const std::string& place) {
    return place == runtime_dir || place == above;
  });
  return own ? runtime_dir + "/state" : default_state_directory();
}

}  // namespace corral::serve
