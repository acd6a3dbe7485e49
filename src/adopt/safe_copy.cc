#include "adopt/safe_copy.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <vector>

#include "base/files.h"
#include "config/file.h"

namespace corral::adopt {
namespace {

constexpr std::size_t kMostCopies = 10;

/// Different for two files of the same name in different directories, the same in every run.
std::string short_hash(const std::string& path) {
  std::uint32_t hash = 0x811c9dc5;
  for (const char byte : path) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x01000193;
  std::string digits(8, '0');
  for (std::size_t i = digits.size(); i-- > 0; hash >>= 4U) digits[i] = "0123456789abcdef"[hash & 15U];
  return digits;
}

void remove_oldest(const std::filesystem::path& folder) {
  std::error_code unknown;
  std::vector<std::filesystem::path> copies;
  for (const auto& entry : std::filesystem::directory_iterator(folder, unknown))
    copies.push_back(entry.path());
  std::sort(copies.begin(), copies.end(), std::greater<>());  // their names are dates
  for (std::size_t i = kMostCopies; i < copies.size(); ++i) std::filesystem::remove(copies[i], unknown);
}

}  // namespace

Result<std::string> keep_copy(const std::string& state_directory, const std::string& file,
                              const std::string& text, const std::string& date) {
  const std::filesystem::path folder =
      std::filesystem::path(state_directory) / "adopted" / (base_name(file) + "-" + short_hash(file));
  const std::string copy = (folder / date).string();
  std::error_code unknown;
  if (std::filesystem::exists(copy, unknown)) return {boost::system::in_place_value, copy};
  Result<config::FileUpdate> update = config::FileUpdate::begin(copy);
  if (!update) return update.error();
  const Result<void> written = update->commit(text);
  if (!written) return written.error();
  remove_oldest(folder);
  return {boost::system::in_place_value, copy};
}

}  // namespace corral::adopt
