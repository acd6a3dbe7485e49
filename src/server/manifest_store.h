// Keeps manifests in files, one per server build, from one daemon to the next. What cannot be read, or was
// written by another version, is put aside with a warning and learned anew. Called on the daemon's only
// thread; the files are small and on a local disk.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>

#include "server/manifest.h"

namespace corral::server {

// How much is kept. A directory holds as many files as a user may have servers, projects and environments of
// them in use; beyond that the ones that were not written for longest go.
inline constexpr std::size_t kLargestManifest = std::size_t{8} << 20;
inline constexpr std::size_t kLargestPortrait = std::size_t{4} << 20;
inline constexpr std::size_t kMostPortraits = 16;
inline constexpr std::size_t kMostManifests = 256;

class ManifestStore {
 public:
  /// Makes the directory when it first has something to keep (0700). Empty = keeps nothing.
  explicit ManifestStore(std::string directory);

  /// `key` is a launch key: it holds secrets and appears nowhere, only its digest does. Nothing known is an
  /// empty manifest.
  Manifest load(const std::string& key) const;
  /// Atomically. A failure is logged, once. `server` is its name, for whoever looks into the file.
  void save(const std::string& key, const std::string& server, const Manifest& manifest);

 private:
  std::string directory_;
  bool failed_ = false;
  mutable std::set<std::string> warned_;  // files that were ignored, each told once
};

/// The text of one file, and back. Portraits that are too many, too large or no JSON objects are left out; a
/// path that JSON cannot hold makes it no text at all, because without it a change would go unseen. Nothing
/// if the text is corrupt, foreign or of another format; `why` goes on after "the file …".
std::string manifest_text(const std::string& server, const Manifest& manifest);
std::optional<Manifest> parse_manifest(const std::string& text, std::string& why);

}  // namespace corral::server
