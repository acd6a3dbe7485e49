// Opens the registry's file: checks the directory and the files in it, creates what is missing with private
// permissions, moves a damaged file aside, and migrates an older one. Called at the start, and again after a
// failure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "registry/sqlite.h"

namespace corral::registry {

/// Identifies a file, whatever its path leads to now.
struct FileId {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;

  bool operator==(const FileId&) const = default;
};
FileId file_at(const std::string& path);

/// Whether clients are waiting for answers while the file is opened.
enum class When : std::uint8_t { Starting, Serving };

/// What was lost, although the registry works.
enum class Loss : std::uint8_t {
  DamagedFile,  // what a damaged file knew about earlier daemons
  OlderFile,    // what a file from before the first release knew about them
  Records       // some records from a time when the file could not be written
};

struct OpenedFile {
  Database database;              // invalid if `problem` is set
  std::string file;               // the path without symbolic links
  std::string problem;            // a sentence that says what to do
  bool may_pass = false;          // retrying later may help, without a restart
  std::string notice;             // a message for the user although the file was opened: what was lost
  Loss loss = Loss::DamagedFile;  // which loss the notice is about
};

/// How SQLite keeps a change atomic. The write-ahead log needs memory that all processes with the file open
/// share. Two machines share none, so with a write-ahead log each would overwrite what the other wrote.
enum class Journal : std::uint8_t { WriteAhead, Rollback };

/// Chooses by the file system type from statfs(2): a file system that other machines may use gets no
/// write-ahead log.
Journal journal_for(std::uint64_t filesystem_type);

/// Without `journal`, uses what the file system of the directory needs. May wait for locks, for longer when
/// `Starting`.
OpenedFile open_database_file(const std::string& path, When when,
                              std::optional<Journal> journal = std::nullopt);

/// Like open_database_file, after moving the existing file aside because it is damaged. The caller must have
/// closed it.
OpenedFile replace_database_file(const std::string& path);

/// Copies the write-ahead log into the database through a separate connection, and waits for the disk. Call
/// it on another thread. `file` is a path without symbolic links.
void checkpoint_database_file(const std::string& file);

/// Cause and remedy, to follow "the registry PATH cannot be written: ".
std::string remedy_for(Trouble trouble);

}  // namespace corral::registry
