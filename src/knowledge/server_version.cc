#include "knowledge/server_version.h"

#include <compare>

#include "base/version_order.h"
#include "wire/json_text.h"

namespace corral::knowledge {
namespace {

constexpr std::size_t kLongestVersion = 100;  // to be shown

}  // namespace

std::string version_in(std::string_view handshake_result) {
  std::string_view info = wire::member_text(handshake_result, "serverInfo");
  if (info.empty()) {
    const std::string_view meta = wire::member_text(handshake_result, "_meta");
    info = wire::member_text(meta, "io.modelcontextprotocol/serverInfo");
  }
  return wire::string_member(info, "version").value_or("").substr(0, kLongestVersion);
}

std::string objection_to_version(const std::string& server, std::string_view handshake_result,
                                 const std::string& least) {
  if (least.empty()) return {};
  const std::string version = version_in(handshake_result);
  const auto order = compare_versions(version, least);
  if (order && std::is_gteq(*order)) return {};
  const std::string cause = version.empty() ? " does not say its version"
                            : order         ? " is version " + version
                                            : " says a version that cannot be compared, " + version;
  return "server " + server + cause + ", and \"min_version\" in the configuration asks for " + least +
         " or later: update the server, or lower \"min_version\"";
}

}  // namespace corral::knowledge
