// What is in a support archive: each part is collected for itself, so that one that fails is only named.
// Reads files, asks a running daemon, starts none, and changes nothing.
#pragma once

#include <string>
#include <vector>

namespace corral::cli {

struct BundlePart {
  std::string name;     // like a file: "status.json"
  std::string text;     // masked, printable, at most kLargestPart; if it failed, why
  bool failed = false;  // nothing could be collected
};

/// A longer part loses its beginning if it is a log, else its end, and says so.
inline constexpr std::size_t kLargestPart = std::size_t{256} << 10;

std::vector<BundlePart> collect_bundle(const std::string& runtime_dir, const std::string& config_file);

/// The whole archive: a text with one section for each part.
std::string bundle_text(const std::vector<BundlePart>& parts);

}  // namespace corral::cli
