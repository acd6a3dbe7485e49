// Stores manifests in the registry, one for each server build, so that the next daemon has them. A manifest
// that cannot be read, or that another version wrote, is ignored with a warning; its content is learned
// again. Used on the loop's thread.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>

#include "knowledge/manifest.h"
#include "registry/registry.h"

namespace corral::knowledge {

using registry::kLargestManifest;
inline constexpr std::size_t kLargestPortrait = std::size_t{4} << 20;
inline constexpr std::size_t kMostPortraits = 16;

class ManifestStore {
 public:
  /// `registry` outlives it; null = stores nothing.
  explicit ManifestStore(registry::Registry* registry) : registry_(registry) {}

  /// `key` is a launch key; it contains secrets, so only its digest is stored. Returns an empty manifest if
  /// nothing is known.
  Manifest load(const std::string& key) const;
  /// `server` is its name, for people who read the registry.
  void save(const std::string& key, const std::string& server, const Manifest& manifest);

 private:
  registry::Registry* registry_;
  mutable std::set<std::string> warned_;  // digests of ignored manifests; each is reported once
};

/// The text of a manifest. Portraits that are too large, that are not JSON objects, or that exceed the
/// maximum number are left out. Empty if a path cannot be written as JSON: without it a change would go
/// unnoticed.
std::string manifest_text(const std::string& server, const Manifest& manifest);
/// The manifest from its text. Nothing if the text is corrupt, is not a manifest or has another format; `why`
/// is then the part of a sentence that follows "it ".
std::optional<Manifest> parse_manifest(const std::string& text, std::string& why);

}  // namespace corral::knowledge
