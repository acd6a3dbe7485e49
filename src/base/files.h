// Small helpers for files: names, whole contents, short locks.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace corral {

/// Everything after the last slash. Reads nothing.
inline std::string base_name(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

/// Reads a small file whole, such as those in /proc; returns at most 1 MiB. After an error, for example
/// because the process has ended, returns what was read so far. (A stream iterator would throw in that case,
/// whatever exception mask the stream has.)
std::string read_text(const std::string& path);

/// Makes a directory and those above it that are missing, each for this user alone. Does nothing to one that
/// is there, and says nothing about a failure: using the directory does. Leaves the umask alone, which all
/// threads share.
void make_private_directories(const std::string& path);

/// flock(LOCK_EX) with a time limit, for a file that every process locks only briefly: long enough for twenty
/// processes that start at once. Returns false if another process holds the lock for longer. Returns true on
/// a file system without locks, because the caller can do nothing about that. Blocks the thread; the lock
/// ends when the descriptor is closed.
bool lock_with_patience(int fd, std::chrono::milliseconds patience = std::chrono::seconds(5));

}  // namespace corral
