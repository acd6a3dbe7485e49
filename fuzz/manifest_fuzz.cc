// A file in the state directory, which anything may have been done to: a manifest or a reason, never a crash,
// and a manifest says the same after another trip.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "knowledge/manifest_store.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace corral::knowledge;
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::string why;
  const std::optional<Manifest> manifest = parse_manifest(text, why);
  if (manifest.has_value() != why.empty()) abort();
  if (!manifest) return 0;
  const std::optional<Manifest> again = parse_manifest(manifest_text("server", *manifest), why);
  if (!again || *again != *manifest) abort();
  return 0;
}
