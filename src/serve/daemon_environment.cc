#include "serve/daemon_environment.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "shim/daemon_process.h"

namespace corral::serve {
namespace {

// A name that ends with an underscore means all names that begin with it.
constexpr std::array<std::string_view, 3> kForServices = {"NOTIFY_SOCKET", "LISTEN_", "WATCHDOG_"};

bool is_for_services(std::string_view variable) {
  const std::string_view name = variable.substr(0, variable.find('='));
  return std::any_of(kForServices.begin(), kForServices.end(), [name](std::string_view kept) {
    return kept.ends_with('_') ? name.starts_with(kept) : name == kept;
  });
}

}  // namespace

std::vector<std::string> daemon_environment(const char* const* variables) {
  std::vector<std::string> kept;
  for (; *variables != nullptr; ++variables) {
    if (shim::is_for_daemon(*variables) || is_for_services(*variables)) kept.emplace_back(*variables);
  }
  return kept;
}

std::vector<std::string> detached_environment(const char* const* variables) {
  std::vector<std::string> kept = daemon_environment(variables);
  std::erase_if(kept, [](const std::string& variable) { return is_for_services(variable); });
  return kept;
}

std::vector<std::string> served_environment(const char* const* variables) {
  std::vector<std::string> kept;
  for (; *variables != nullptr; ++variables) {
    if (!is_for_services(*variables)) kept.emplace_back(*variables);
  }
  return kept;
}

std::vector<char*> as_pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace corral::serve
