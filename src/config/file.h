// Reads a configuration file if only trusted users can write to it, and replaces it atomically.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace corral::config {

/// A larger file is refused. The bound is generous because some clients keep histories in their files.
inline constexpr std::size_t kLargestFile = std::size_t{64} << 20;

/// The owner and mode of a file, and the user who wants to read it.
struct FileRights {
  uid_t reader = 0;
  uid_t owner = 0;
  mode_t mode = 0;
  /// Whether the owner is the only member of the group. Called only if the group may write, because the
  /// answer may need a request to a directory server in the network.
  std::function<bool()> group_of_one{};
};

/// Why such a file is not trusted and what to do, as a sentence; empty if it is trusted.
std::string objection_to(const FileRights& rights, const std::string& file);

struct FileText {
  std::string text;
};

/// The text of an open file: at most kLargestFile of a regular one. After an error, errno says why.
Result<FileText> read_opened(int fd);

/// The kind of the error is NotFound if there is no such file. A file that other users can write to is
/// refused, because they could make corral run any program as this user.
Result<FileText> read_text(const std::string& file);

/// Whose file is changed. corral's own files are created if they are missing, only their owner may read them,
/// and the old text stays beside them. A file of another program must exist and be this user's to write; it
/// keeps its mode and its group, and nothing is left beside it.
enum class FileOwner : std::uint8_t { Corral, OtherProgram };

/// What became of a new text.
enum class Commit : std::uint8_t { Done, ChangedMeanwhile };

/// One change to a file. Holds a lock from reading the old text until the new text is in place, so that two
/// concurrent changes do not overwrite each other.
class FileUpdate {
 public:
  /// Creates the directory of a file of corral's if it does not exist. Waits up to 5 s for the lock. The kind
  /// of the error is NotFound if there is no such file of another program.
  static Result<FileUpdate> begin(const std::string& file, FileOwner owner = FileOwner::Corral);

  const std::string& text() const { return text_; }  // empty if there is no file yet
  bool existed() const { return existed_; }

  /// The file in which commit() keeps the old text; empty if there is no file yet.
  std::string backup() const { return existed_ && owner_ == FileOwner::Corral ? file_ + ".bak" : ""; }

  /// Replaces the old text atomically and then releases the lock. Fails, and changes nothing but the backup,
  /// if another process has changed the file since.
  Result<void> commit(const std::string& text);
  /// The same for a caller that starts again with the new text: a change by another process is a value.
  Result<Commit> try_commit(const std::string& text);

 private:
  FileUpdate() = default;
  Result<void> check_writable() const;
  bool is_unchanged() const;
  bool take_over_rights(int temporary) const;
  Result<Commit> put(const std::string& text, const std::string& file) const;

  std::string file_;  // with symbolic links resolved
  std::string directory_;
  UniqueFd lock_;
  std::string text_;
  bool existed_ = false;
  FileOwner owner_ = FileOwner::Corral;
};

}  // namespace corral::config
