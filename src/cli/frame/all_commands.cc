// All commands, one row each, in the order in which the help shows them.
#include "cli/frame/command.h"

// clang-format off
#define CORRAL_COMMANDS(ROW) \
  ROW(run)          \
  ROW(connect)      \
  ROW(tools)        \
  ROW(call)         \
  ROW(session)      \
  ROW(serve)        \
  ROW(ps)           \
  ROW(top)          \
  ROW(info)         \
  ROW(logs)         \
  ROW(events)       \
  ROW(status)       \
  ROW(restart)      \
  ROW(stop)         \
  ROW(start)        \
  ROW(reload)       \
  ROW(shutdown)     \
  ROW(url)          \
  ROW(service)      \
  ROW(token)        \
  ROW(list)         \
  ROW(config)       \
  ROW(add)          \
  ROW(remove)       \
  ROW(import)       \
  ROW(doctor)       \
  ROW(who)          \
  ROW(reap)         \
  ROW(watch)        \
  ROW(guard)        \
  ROW(mcp)          \
  ROW(completions)  \
  ROW(man)
// clang-format on

namespace corral::cli {

#define CORRAL_DECLARE(name) Command name##_command();
CORRAL_COMMANDS(CORRAL_DECLARE)

std::vector<Command> all_commands() {
#define CORRAL_MAKE(name) name##_command(),
  return {CORRAL_COMMANDS(CORRAL_MAKE)};
}

#undef CORRAL_COMMANDS
#undef CORRAL_DECLARE
#undef CORRAL_MAKE

}  // namespace corral::cli
