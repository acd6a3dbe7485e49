// Opens the registry's file: judges the folder and what is in it, makes what is missing for us alone, puts a
// damaged file aside, and brings an older one up to date. Once at start, and again when it failed before.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "registry/sqlite.h"

namespace corral::registry {

/// Which file it is, whatever its name leads to now.
struct FileId {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;

  bool operator==(const FileId&) const = default;
};
FileId file_at(const std::string& path);

/// Whether somebody waits for answers meanwhile.
enum class When : std::uint8_t { Starting, Serving };

struct OpenedFile {
  Database database;      // invalid if there is a problem
  std::string file;       // the path without links
  std::string problem;    // a sentence that says what to do
  bool may_pass = false;  // it is worth another try without anybody restarting us
  std::string notice;     // something that its owner should know all the same
};

/// How SQLite keeps a change whole. The write-ahead log needs memory that everybody who has the file open
/// shares, and two machines share none: with it, each would overwrite what the other wrote.
enum class Journal : std::uint8_t { WriteAhead, Rollback };

/// By the type of the file system, as statfs(2) tells it: one that other machines may reach gets no
/// write-ahead log.
Journal journal_for(std::uint64_t filesystem_type);

/// Nothing given = as the file system of the folder demands.
OpenedFile open_database_file(const std::string& path, When when,
                              std::optional<Journal> journal = std::nullopt);

/// The same after putting aside what is there, because it turned out to be damaged. Nobody of us has it open.
OpenedFile replace_database_file(const std::string& path);

/// Copies the write-ahead log into the database by a connection of its own, and waits for the disk. For
/// another thread. `file` is a path without links.
void checkpoint_database_file(const std::string& file);

/// The cause and the remedy, as they follow "the registry PATH cannot be written: ".
std::string remedy_for(Trouble trouble);

}  // namespace corral::registry
