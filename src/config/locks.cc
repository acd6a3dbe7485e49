#include "config/locks.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "base/words.h"
#include "config/daemon_objects.h"
#include "config/server_options.h"

namespace corral::config {
namespace {

constexpr std::string_view kServers = "servers.";

std::vector<std::string> keys_that_can_be_locked() {
  std::vector<std::string> keys(kDaemonKeys.begin(), kDaemonKeys.end());
  for (const std::string_view key : kHttpKeys) keys.push_back("http." + std::string(key));
  for (const std::string_view key : kWatchKeys) keys.push_back("watch." + std::string(key));
  for (const ServerOption& option : server_options()) {
    if (option.value.copy != nullptr) keys.emplace_back(option.key);
  }
  return keys;
}

/// What to write instead of a name that cannot be locked.
std::string hint_for(const std::string& name, const std::vector<std::string>& keys,
                     const Configuration& configuration) {
  std::vector<std::string> known = keys;
  for (const Server& server : configuration.servers) known.push_back(key_of_server(server.name));
  const std::string close = nearest_word(name, known);
  if (!close.empty()) return "Did you mean \"" + close + "\"? Correct it";
  return "Name a key of the top-level \"corral\", an option of servers such as \"share\", or a server of "
         "this "
         "file as \"servers.NAME\"";
}

}  // namespace

bool covers_key(std::string_view lock, std::string_view key) {
  if (lock == key) return true;
  const bool is_object = lock.find('.') == lock.npos;
  return is_object && key.starts_with(lock) && key[lock.size()] == '.';
}

std::string key_of_server(std::string_view name) { return std::string(kServers).append(name); }

void read_locks(Reading& reading, const Field& field, Configuration& configuration) {
  const std::optional<std::vector<std::string>> names = reading.texts(field);
  if (!names) return;
  const std::vector<std::string> keys = keys_that_can_be_locked();
  for (std::size_t i = 0; i < names->size() && !reading.failed(); ++i) {
    const std::string& name = (*names)[i];
    const std::size_t place = reading.element_of(field, i);
    const bool is_server = name.starts_with(kServers) && configuration.find(name.substr(kServers.size()));
    if (!is_server && std::find(keys.begin(), keys.end(), name) == keys.end()) {
      return reading.fail(place, "\"locked\" names '" + printable(name) + "', which cannot be locked",
                          hint_for(name, keys, configuration));
    }
    configuration.locks.emplace(name, FilePlace{configuration.file, reading.line_of(place)});
  }
}

void apply_locked_options(const Configuration& machine, Server& server) {
  const Server* const given = machine.find(server.name);
  if (given == nullptr) return;
  for (const ServerOption& option : server_options()) {
    if (option.value.copy != nullptr && machine.lock_of(option.key) != nullptr) {
      option.value.copy(*given, server);
    }
  }
}

}  // namespace corral::config
