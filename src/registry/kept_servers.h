// What the registry's file says about servers, for programs that are not the daemon. Works with and without a
// running daemon, because it only reads the file (registry/kept_records.h). The content is not trusted.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace corral::registry {

struct KeptServer {
  /// What is known about it, newest first (knowledge/manifest_store.h reads it): one text for each
  /// environment in which it ran. At most four.
  std::vector<std::string> manifests{};
  std::string failure{};        // how it failed last; empty if it has worked since then, or never failed
  std::int64_t failure_ms = 0;  // Unix time
  std::string failure_kind{};   // of the event: "failed", "crash", "broken", "refused"
  std::vector<std::string> error_lines{};  // what it wrote last to stderr

  bool operator==(const KeptServer&) const = default;
};

/// By name. A missing or empty file is Error::Kind::NotFound; any other error is a sentence that names the
/// file.
Result<std::map<std::string, KeptServer>> read_kept_servers(const std::string& file);

}  // namespace corral::registry
