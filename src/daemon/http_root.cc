#include "daemon/http_root.h"

#include <algorithm>
#include <filesystem>

#include "wire/error_codes.h"

namespace corral::daemon {
namespace {

/// Without "." and "..", and without a slash at its end.
std::string plain_path(const std::string& path) {
  std::string plain = std::filesystem::path(path).lexically_normal().string();
  if (plain.size() > 1 && plain.back() == '/') plain.pop_back();
  return plain;
}

bool lists(const std::vector<std::string>& roots, const std::string& wanted) {
  return std::any_of(roots.begin(), roots.end(),
                     [&wanted](const std::string& root) { return plain_path(root) == wanted; });
}

transport::HttpRefusal refused_root(int status, std::string message) {
  return {status, wire::kInvalidRequest, std::move(message), "", ""};
}

}  // namespace

std::variant<std::string, transport::HttpRefusal> root_for(const transport::HttpArrival& arrival,
                                                           const config::Server* entry) {
  const bool by_root = entry != nullptr && entry->share == config::Share::Root;
  if (!by_root && arrival.root.empty()) return std::string();
  if (!by_root) {
    return refused_root(400, "server " + arrival.server +
                                 " does not have one instance for each project, so no root can be chosen: "
                                 "remove ?root= from the URL, or give the server \"share\": \"root\" in the "
                                 "configuration");
  }
  if (arrival.root.empty()) {
    return refused_root(
        400, "server " + arrival.server +
                 " has one instance for each project: name yours in the URL, ?root=/path/of/the/project");
  }
  constexpr std::size_t kLongestPath = 4096;  // PATH_MAX
  if (!arrival.root.starts_with('/') || arrival.root.size() >= kLongestPath) {
    return refused_root(400, "the root in the URL must be an absolute path, ?root=/path/of/the/project");
  }
  if (arrival.principal == "user") return arrival.root;
  std::string wanted = plain_path(arrival.root);
  if (lists(arrival.roots, wanted) || lists(entry->roots, wanted)) return wanted;
  return refused_root(403, "this token may not choose this root for server " + arrival.server +
                               ": the user of the daemon allows it with `corral token create NAME --root "
                               "DIR`, or in \"roots\" of the server's entry");
}

Result<std::string> project_folder(const std::string& root) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(root, error);
  if (error || !std::filesystem::is_directory(real, error)) {
    return Error{"the root '" + root +
                 "' is not a directory: give an absolute path, ?root=/path/of/the/project"};
  }
  return {boost::system::in_place_value, real.string()};
}

}  // namespace corral::daemon
