// The configuration as a file: read with suspicion, changed in one step or not at all.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace corral::config {

/// A larger file is refused. The bound is generous because some clients keep histories in their files.
inline constexpr std::size_t kLargestFile = std::size_t{64} << 20;

/// Who may change a file, and who wants to believe it.
struct FileRights {
  uid_t reader = 0;
  uid_t owner = 0;
  mode_t mode = 0;
  /// Whether nobody but the owner is in its group. Asked only if the group may write: it may mean a question
  /// to a server of the network.
  std::function<bool()> group_of_one{};
};

/// Why such a file is not believed, as a sentence with what to do; empty if it is.
std::string objection_to(const FileRights& rights, const std::string& file);

struct FileText {
  std::string text;
};

/// The error's kind is NotFound if there is no such file. A file that somebody else may write to is refused:
/// it could make us run anything.
Result<FileText> read_text(const std::string& file);

/// A change of a file: holds a lock from the look at the old text until the new one is in place, so that two
/// changes at the same time do not lose each other.
class FileUpdate {
 public:
  /// Makes the directory if there is none.
  static Result<FileUpdate> begin(const std::string& file);

  const std::string& text() const { return text_; }  // empty if there is no file yet
  bool existed() const { return existed_; }

  /// Where commit() keeps the old text; empty if there is no file yet.
  std::string backup() const { return existed_ ? file_ + ".bak" : ""; }

  /// The new text takes the place of the old one at once, readable for its owner alone, as is the backup.
  /// Refused if somebody else has changed the file meanwhile. Then others may change it.
  Result<void> commit(const std::string& text);

 private:
  FileUpdate() = default;
  Result<void> check_unchanged() const;
  Result<void> put(const std::string& text, const std::string& file) const;

  std::string file_;  // where it really is: a symbolic link stays one
  std::string directory_;
  UniqueFd lock_;
  std::string text_;
  bool existed_ = false;
};

}  // namespace corral::config
