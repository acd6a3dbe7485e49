// Reads /proc without allocating: who is whose child, what a process is called, what it holds. Every answer
// may be out of date the moment it is given; callers act only on processes that they have still to reap.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace corral::keeper {

struct StatLine {
  char state = '?';
  pid_t parent = 0;
};

/// Parses the text of /proc/PID/stat. A process names itself, so its name may hold spaces and parentheses:
/// what counts begins after the *last* one.
bool parse_stat(const char* text, std::size_t length, StatLine& line);

bool read_stat(pid_t pid, StatLine& line);

/// The name of a process, also of a zombie. False, and "?", if there is none.
bool read_comm(pid_t pid, char (&comm)[16]);

/// The uid that a process runs as now, or -1.
uid_t read_uid(pid_t pid);

/// Our own children, adopted ones included: by the /proc file for it, else (a kernel without
/// CONFIG_PROC_CHILDREN) by a scan of all processes. Returns how many were stored.
std::size_t own_children(std::span<pid_t> found);

/// All processes below `root`, without it.
std::size_t descendants(pid_t root, std::span<pid_t> found);

/// Memory that a process holds, shared pages divided by their users (PSS); resident size where that is
/// hidden.
std::uint64_t memory_of(pid_t pid);

}  // namespace corral::keeper
