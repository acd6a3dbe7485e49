#include "config/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/files.h"
#include "base/system_users.h"

namespace corral::config {
namespace {

Error unreadable(const std::string& file, int error) {
  if (error == ENOENT || error == ENOTDIR) {
    return Error{"there is no file '" + file + "'. Check the name.", Error::Kind::NotFound};
  }
  std::string cause = strerror(error);
  if (error == EFBIG) cause = "it is larger than 64 MiB";
  if (error == EINVAL) cause = "it is not a regular file";
  return Error{"'" + file + "' cannot be read: " + cause + ". Fix this, or name another file."};
}

/// The content of an open file. Empty, with errno set, if it cannot be read or exceeds kLargestFile.
std::optional<std::string> read_whole(int fd, const struct stat& status) {
  if (!S_ISREG(status.st_mode)) errno = EINVAL;
  if (S_ISREG(status.st_mode) && status.st_size > static_cast<off_t>(kLargestFile)) errno = EFBIG;
  if (!S_ISREG(status.st_mode) || status.st_size > static_cast<off_t>(kLargestFile)) return std::nullopt;
  std::string text;
  std::array<char, std::size_t{64} << 10> chunk;
  for (;;) {
    const ssize_t got = ::read(fd, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) return text;
    text.append(chunk.data(), static_cast<std::size_t>(got));
    if (text.size() <= kLargestFile) continue;
    errno = EFBIG;
    return std::nullopt;
  }
}

Error unwritable(const std::string& file) {
  return Error{"'" + file + "' cannot be written: " + strerror(errno) + ". Nothing was changed."};
}

/// Like mkdir -p. Only the owner has access to the new directories.
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

std::string objection_to(const FileRights& rights, const std::string& file) {
  if (rights.owner != rights.reader && rights.owner != 0) {
    return "'" + file +
           "' belongs to another user, who could use it to run programs as you. Copy it to a file that you "
           "own.";
  }
  if ((rights.mode & S_IWOTH) != 0) {
    return "every user can write to '" + file + "' and so run programs as you. Run `chmod o-w` on it.";
  }
  if ((rights.mode & S_IWGRP) != 0 && !(rights.group_of_one && rights.group_of_one())) {
    return "a group of users can write to '" + file + "' and so run programs as you. Run `chmod g-w` on it.";
  }
  return "";
}

Result<FileText> read_opened(int fd) {
  struct stat status {};
  std::optional<std::string> text;
  if (fstat(fd, &status) == 0) text = read_whole(fd, status);
  if (!text) return Error{strerror(errno)};
  return FileText{std::move(*text)};
}

// Checks the open file and not its name, because the name may refer to another file a moment later. Does not
// block on a pipe.
Result<FileText> read_text(const std::string& file) {
  const UniqueFd opened(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  if (!opened.valid() || fstat(opened.get(), &status) != 0) return unreadable(file, errno);
  if (S_ISREG(status.st_mode)) {
    const std::string objection =
        objection_to({geteuid(), status.st_uid, status.st_mode,
                      [&status] { return is_group_of_one(status.st_gid, status.st_uid); }},
                     file);
    if (!objection.empty()) return Error{objection};
  }
  Result<FileText> text = read_opened(opened.get());
  if (!text) return unreadable(file, errno);
  return text;
}

Result<FileUpdate> FileUpdate::begin(const std::string& file, FileOwner owner) {
  FileUpdate update;
  update.owner_ = owner;
  std::error_code unknown;
  // If the file is a symbolic link, its target is changed and the link stays.
  const std::filesystem::path absolute = std::filesystem::absolute(file, unknown);
  std::filesystem::path real = std::filesystem::weakly_canonical(absolute, unknown);
  if (unknown) real = absolute;
  if (std::filesystem::is_symlink(real, unknown)) {
    return Error{"'" + file +
                 "' is a symbolic link to a file that does not exist. Create that file, or remove the link."};
  }
  update.file_ = real.string();
  update.directory_ = real.parent_path().string();
  if (owner == FileOwner::OtherProgram) {
    const Result<void> writable = update.check_writable();
    if (!writable) return writable.error();
  } else if (update.file_.empty() || !make_directories(update.directory_)) {
    return unwritable(file);
  }
  update.lock_ = UniqueFd(open(update.directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!update.lock_.valid()) return unwritable(file);
  // commit() checks for changes again, because a file system may not support locks.
  if (!lock_with_patience(update.lock_.get())) {
    return Error{"another process has been changing '" + file + "' for 5 s. Try again."};
  }
  Result<FileText> current = read_text(update.file_);
  const bool may_be_missing = owner == FileOwner::Corral;
  if (!current && (current.error().kind != Error::Kind::NotFound || !may_be_missing)) return current.error();
  update.existed_ = current.has_value();
  if (current) update.text_ = std::move(current->text);
  return update;
}

/// Renaming needs no right to write to the file itself, so a file that is protected would be replaced.
Result<void> FileUpdate::check_writable() const {
  struct stat status {};
  if (stat(file_.c_str(), &status) != 0) return unreadable(file_, errno);
  const auto refused = [this](const std::string& cause, const std::string& next) {
    return Error{"'" + file_ + "' " + cause + ". " + next + "."};
  };
  if (!S_ISREG(status.st_mode)) return unreadable(file_, EINVAL);
  if (status.st_uid != geteuid()) {
    return refused("belongs to another user", "Run corral as that user, or ask for the change");
  }
  if ((status.st_mode & S_IWUSR) == 0 || access(file_.c_str(), W_OK) != 0) {
    return refused("is read-only", "Run `chmod u+w` on it if it may be changed");
  }
  if (status.st_nlink > 1) {
    return refused("has a second name (a hard link), which would keep the old text",
                   "Replace one of them by a symbolic link");
  }
  if (access(directory_.c_str(), W_OK) != 0) {
    return refused("is in a directory that you may not write to", "Correct the rights of that directory");
  }
  return {};
}

bool FileUpdate::is_unchanged() const {
  const Result<FileText> now = read_text(file_);
  return now ? existed_ && now->text == text_ : !existed_ && now.error().kind == Error::Kind::NotFound;
}

/// Gives the new file the mode and the group of the old one. If the group cannot be given, it gets no rights.
bool FileUpdate::take_over_rights(int temporary) const {
  struct stat old {};
  struct stat made {};
  if (stat(file_.c_str(), &old) != 0 || fstat(temporary, &made) != 0) return false;
  mode_t mode = old.st_mode & 07777U;
  const bool same_group =
      made.st_gid == old.st_gid || fchown(temporary, static_cast<uid_t>(-1), old.st_gid) == 0;
  if (!same_group) mode &= ~static_cast<mode_t>(S_IRWXG);
  return fchmod(temporary, mode) == 0;
}

/// Replaces the file by renaming, so that readers see either the complete old text or the complete new one.
Result<Commit> FileUpdate::put(const std::string& text, const std::string& file) const {
  std::string temporary = directory_ + "/.corral-XXXXXX";
  const UniqueFd fd(mkostemp(temporary.data(), O_CLOEXEC));  // creates it with mode 0600
  if (!fd.valid()) return unwritable(file);
  Result<Commit> done = Commit::Done;
  if (owner_ == FileOwner::OtherProgram && !take_over_rights(fd.get())) done = unwritable(file);
  if (done && !write_all(fd.get(), text)) done = unwritable(file);
  if (done && !is_unchanged()) done = Commit::ChangedMeanwhile;
  const bool replace = done && *done == Commit::Done;
  if (replace && rename(temporary.c_str(), file.c_str()) == 0) return done;
  if (replace) done = unwritable(file);
  unlink(temporary.c_str());
  return done;
}

Result<Commit> FileUpdate::try_commit(const std::string& text) {
  Result<Commit> done = Commit::Done;
  if (!backup().empty()) done = put(text_, backup());
  if (done && *done == Commit::Done) done = put(text, file_);
  if (!done || *done != Commit::Done) return done;
  fsync(lock_.get());  // also the renames; if this fails, a power cut may bring the old file back, complete
  lock_.reset();       // other processes may change the file from now on
  return done;
}

Result<void> FileUpdate::commit(const std::string& text) {
  const Result<Commit> done = try_commit(text);
  if (!done) return done.error();
  if (*done == Commit::Done) return {};
  return Error{"'" + file_ +
               "' was changed by another process after corral had read it, so corral did not write it. "
               "Try again."};
}

}  // namespace corral::config
