#include "knowledge/manifest_store.h"

#include "base/log.h"
#include "knowledge/name_digest.h"

namespace corral::knowledge {

Manifest ManifestStore::load(const std::string& key) const {
  if (registry_ == nullptr) return {};
  const std::string digest = name_digest(key);
  const std::optional<std::string> text = registry_->manifest(digest);
  if (!text) return {};
  std::string why;
  if (std::optional<Manifest> manifest = parse_manifest(*text, why)) return std::move(*manifest);
  if (warned_.insert(digest).second) {
    log_line("what was known of a server (" + digest + ") is learned anew, because it " + why);
  }
  return {};
}

void ManifestStore::save(const std::string& key, const std::string& server, const Manifest& manifest) {
  const std::string text = registry_ == nullptr ? std::string() : manifest_text(server, manifest);
  if (!text.empty()) registry_->keep_manifest(name_digest(key), server, text);
}

}  // namespace corral::knowledge
