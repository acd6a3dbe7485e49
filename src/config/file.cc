#include "config/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "config/limits.h"
#include "survey/package_manifest.h"

namespace corral::config {
namespace {

Error unreadable(const std::string& file, int error) {
  if (error == ENOENT || error == ENOTDIR) {
    return Error{"there is no file '" + file + "'. Check the name.", Error::Kind::NotFound};
  }
  std::string cause = strerror(error);
  if (error == EFBIG) cause = "it has more than 64 MiB";
  if (error == EINVAL) cause = "it is no regular file";
  return Error{"'" + file + "' cannot be read: " + cause + ". Correct that, or name another file."};
}

Result<void> check_owner(const std::string& file) {
  struct stat status {};
  if (stat(file.c_str(), &status) != 0) return unreadable(file, errno);
  if (status.st_uid != geteuid() && status.st_uid != 0) {
    return Error{"'" + file +
                 "' belongs to another user, who could run programs as you. Copy it to a file of your own."};
  }
  if ((status.st_mode & S_IWOTH) != 0 && S_ISREG(status.st_mode)) {
    return Error{"everybody may write to '" + file + "' and so run programs as you. Run `chmod o-w` on it."};
  }
  return {};
}

Error unwritable(const std::string& file) {
  return Error{"'" + file + "' cannot be written: " + strerror(errno) + ". Nothing was changed."};
}

/// Like mkdir -p; directories that are made here are for their owner alone.
bool make_directories(const std::string& path) {
  for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    if (mkdir(path.substr(0, slash).c_str(), 0700) != 0 && errno != EEXIST) return false;
    if (slash == std::string::npos) return true;
  }
}

bool write_all(int fd, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = write(fd, text.data() + done, text.size() - done);
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) done += static_cast<std::size_t>(written);
  }
  return fsync(fd) == 0;
}

}  // namespace

Result<FileText> read_text(const std::string& file) {
  const Result<void> owner = check_owner(file);
  if (!owner) return owner.error();
  std::optional<std::string> text = survey::read_small_file(file, kLargestFile);
  if (!text) return unreadable(file, errno);
  return FileText{std::move(*text)};
}

Result<FileUpdate> FileUpdate::begin(const std::string& file) {
  FileUpdate update;
  std::error_code unknown;
  // Whoever keeps the file elsewhere and links to it wants that one changed, not the link replaced.
  const std::filesystem::path absolute = std::filesystem::absolute(file, unknown);
  std::filesystem::path real = std::filesystem::weakly_canonical(absolute, unknown);
  if (unknown) real = absolute;
  if (std::filesystem::is_symlink(real, unknown)) {
    return Error{"'" + file +
                 "' is a symbolic link to a file that is not there. Make that file, or remove the link."};
  }
  update.file_ = real.string();
  update.directory_ = real.parent_path().string();
  if (update.file_.empty() || !make_directories(update.directory_)) return unwritable(file);
  update.lock_ = UniqueFd(open(update.directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!update.lock_.valid()) return unwritable(file);
  // A file system without locks is no reason to refuse; commit() looks again anyway.
  if (flock(update.lock_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return Error{"somebody else is changing '" + file + "' right now. Try again."};
  }
  Result<FileText> current = read_text(update.file_);
  if (!current && current.error().kind != Error::Kind::NotFound) return current.error();
  update.existed_ = current.has_value();
  if (current) update.text_ = std::move(current->text);
  return update;
}

Result<void> FileUpdate::check_unchanged() const {
  const Result<FileText> now = read_text(file_);
  const bool same =
      now ? existed_ && now->text == text_ : !existed_ && now.error().kind == Error::Kind::NotFound;
  if (same) return {};
  return Error{"'" + file_ + "' was changed by somebody else meanwhile, so it was left alone. Try again."};
}

/// Whoever reads the file sees all of the old text or all of the new one.
Result<void> FileUpdate::put(const std::string& text, const std::string& file) const {
  std::string temporary = directory_ + "/.corral-XXXXXX";
  const UniqueFd fd(mkostemp(temporary.data(), O_CLOEXEC));  // made with mode 0600
  if (!fd.valid()) return unwritable(file);
  Result<void> done;
  if (!write_all(fd.get(), text)) done = unwritable(file);
  if (done) done = check_unchanged();
  if (done && rename(temporary.c_str(), file.c_str()) != 0) done = unwritable(file);
  if (!done) unlink(temporary.c_str());
  return done;
}

Result<void> FileUpdate::commit(const std::string& text) {
  Result<void> done;
  if (existed_) done = put(text_, backup());
  if (done) done = put(text, file_);
  if (!done) return done;
  fsync(lock_.get());  // the names as well; if that fails, the old file comes back whole after a power cut
  return {};
}

}  // namespace corral::config
