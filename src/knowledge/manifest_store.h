// Keeps manifests in the registry, one per server build, from one daemon to the next. What cannot be read, or
// was written by another version, is ignored with a warning and learned anew. Belongs to the loop thread.
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
  /// `registry` outlives it; null = keeps nothing.
  explicit ManifestStore(registry::Registry* registry) : registry_(registry) {}

  /// `key` is a launch key: it holds secrets and appears nowhere, only its digest does. Nothing known is an
  /// empty manifest.
  Manifest load(const std::string& key) const;
  /// `server` is its name, for whoever looks into the registry.
  void save(const std::string& key, const std::string& server, const Manifest& manifest);

 private:
  registry::Registry* registry_;
  mutable std::set<std::string> warned_;  // digests of what was ignored, each told once
};

/// The text of one, and back. Portraits that are too many, too large or no JSON objects are left out; a
/// path that JSON cannot hold makes it no text at all, because without it a change would go unseen. Nothing
/// if the text is corrupt, foreign or of another format; `why` goes on after "it …".
std::string manifest_text(const std::string& server, const Manifest& manifest);
std::optional<Manifest> parse_manifest(const std::string& text, std::string& why);

}  // namespace corral::knowledge
