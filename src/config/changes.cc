#include "config/changes.h"

#include <algorithm>

#include "config/server_options.h"

namespace corral::config {
namespace {

bool must_be_replaced(const Server& before, const Server& after) {
  const auto options = server_options();
  return std::any_of(options.begin(), options.end(), [&](const ServerOption& option) {
    return option.on_reload == OnReload::Replace && !option.value.same(before, after);
  });
}

}  // namespace

Changes changes(const Configuration& before, const Configuration& after) {
  Changes result;
  result.http = before.options.http != after.options.http;
  for (const Server& server : after.servers) {
    const Server* old = before.find(server.name);
    if (old == nullptr) {
      result.added.push_back(server.name);
    } else if (must_be_replaced(*old, server)) {
      result.changed.push_back(server.name);
    }
  }
  for (const Server& server : before.servers) {
    if (after.find(server.name) == nullptr) result.removed.push_back(server.name);
  }
  return result;
}

}  // namespace corral::config
