#include "cli/commands/unit_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/unique_fd.h"
#include "config/configuration.h"
#include "serve/service_units.h"

namespace corral::cli {
namespace {

namespace fs = std::filesystem;

std::string whole_text(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

Error not_ours(const std::string& path) {
  return Error{"'" + path + "' exists and was not written by corral: move it away, then try again"};
}

Error cannot_write(const std::string& path, int error) {
  return Error{"'" + path + "' cannot be written: " + strerror(error)};
}

/// Writes a temporary file next to it and renames that, so that a reader never sees half a file.
Result<void> put_in_place(const UnitFile& file) {
  const std::string beside = file.path + ".new-" + std::to_string(getpid());
  UniqueFd opened(open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!opened.valid()) return cannot_write(beside, errno);
  const ssize_t written = write(opened.get(), file.text.data(), file.text.size());
  const bool whole = written == static_cast<ssize_t>(file.text.size()) && fsync(opened.get()) == 0;
  if (whole && rename(beside.c_str(), file.path.c_str()) == 0) return {};
  const int error = errno;
  unlink(beside.c_str());
  return cannot_write(file.path, error);
}

}  // namespace

UnitState state_of(const std::string& path) {
  std::error_code unknown;
  if (!fs::exists(fs::symlink_status(path, unknown))) return UnitState::Missing;
  const bool plain = fs::is_regular_file(fs::symlink_status(path, unknown));
  return plain && serve::has_unit_mark(whole_text(path)) ? UnitState::Ours : UnitState::Foreign;
}

Result<std::vector<std::string>> write_units(const std::vector<UnitFile>& files) {
  for (const UnitFile& file : files) {
    if (state_of(file.path) == UnitState::Foreign) return not_ours(file.path);
  }
  std::vector<std::string> changed;
  for (const UnitFile& file : files) {
    if (whole_text(file.path) == file.text) continue;
    std::error_code failed;
    fs::create_directories(fs::path(file.path).parent_path(), failed);
    if (failed) return cannot_write(file.path, failed.value());
    const Result<void> put = put_in_place(file);
    if (!put) return put.error();
    changed.push_back(file.path);
  }
  return changed;
}

Result<bool> remove_unit(const std::string& path) {
  const UnitState state = state_of(path);
  if (state == UnitState::Missing) return false;
  if (state == UnitState::Foreign) return not_ours(path);
  if (unlink(path.c_str()) == 0) return true;
  return Error{"'" + path + "' cannot be removed: " + strerror(errno)};
}

std::string unit_folder() {
  return (fs::path(config::default_file()).parent_path().parent_path() / "systemd" / "user").string();
}

}  // namespace corral::cli
