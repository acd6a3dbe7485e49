#include "shim/root.h"

#include <sys/stat.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace corral::shim {

Result<std::string> find_root(const std::string& given) {
  char path[PATH_MAX];
  struct stat status {};
  const bool found = realpath(given.c_str(), path) != nullptr && stat(path, &status) == 0;
  if (!found) return Error{"the root '" + given + "' cannot be found: " + strerror(errno)};
  if (!S_ISDIR(status.st_mode))
    return Error{"the root '" + given + "' is not a directory: give the path of one"};
  return {boost::system::in_place_value, path};
}

std::vector<std::string> with_root(const std::vector<std::string>& environment, const std::string& root) {
  constexpr std::string_view kName = "CORRAL_ROOT=";
  std::vector<std::string> variables;
  variables.reserve(environment.size() + 1);
  for (const std::string& variable : environment) {
    if (!variable.starts_with(kName)) variables.push_back(variable);
  }
  variables.push_back(std::string(kName) + root);
  return variables;
}

}  // namespace corral::shim
