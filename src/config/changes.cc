#include "config/changes.h"

#include <algorithm>
#include <tuple>

namespace corral::config {
namespace {

template <class Value>
std::vector<Value> sorted(std::vector<Value> list) {
  std::sort(list.begin(), list.end());
  return list;
}

/// Names every field, so that one that is added to a Server does not compile until it is said here whether it
/// counts.
auto what_counts(const Server& server) {
  const auto& [name, argv, env, cwd, share, disabled, tools, deny, timeout, containment, limits, stdin_grace,
               term_grace, on_stop, idle, stateless, restart, park, probe, modern, eager, warm, on_change,
               min_version, roots, recycle, line, built_in] = server;
  const auto& [memory_bytes, processes, cpu_thousandths] = limits;
  return std::make_tuple(argv, sorted(env), cwd, share, disabled, tools.has_value(),
                         sorted(tools.value_or(std::vector<std::string>())), sorted(deny), timeout,
                         containment, memory_bytes, processes, cpu_thousandths, stdin_grace, term_grace,
                         on_stop, idle, stateless, restart, park, probe, modern, eager, warm, on_change,
                         min_version, roots, recycle);
}

}  // namespace

Changes changes(const Configuration& before, const Configuration& after) {
  Changes result;
  result.http = before.options.http != after.options.http;
  for (const Server& server : after.servers) {
    const Server* old = before.find(server.name);
    if (old == nullptr) {
      result.added.push_back(server.name);
    } else if (what_counts(*old) != what_counts(server)) {
      result.changed.push_back(server.name);
    }
  }
  for (const Server& server : before.servers) {
    if (after.find(server.name) == nullptr) result.removed.push_back(server.name);
  }
  return result;
}

}  // namespace corral::config
