// Reads /proc without allocating: parents and children, names, memory. An answer may be out of date as soon
// as it is given; callers act only on processes that they have not reaped yet.
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

/// Parses the text of /proc/PID/stat. A process chooses its own name, which may contain spaces and
/// parentheses, so the fields start after the *last* parenthesis.
bool parse_stat(const char* text, std::size_t length, StatLine& line);

bool read_stat(pid_t pid, StatLine& line);

/// The name of a process or zombie. Returns false and "?" if there is no such process.
bool read_comm(pid_t pid, char (&comm)[16]);

/// The current uid of a process, or -1.
uid_t read_uid(pid_t pid);

/// The children of this process, adopted ones included: from the children file in /proc or, on a kernel
/// without CONFIG_PROC_CHILDREN, by scanning all processes. Returns how many were stored.
std::size_t own_children(std::span<pid_t> found);

/// Like own_children, newest first. If not all children fit, keeps the ones that were added last.
std::size_t newest_children(std::span<pid_t> found);

/// Visits every child, without a limit, until `visit` returns false. The caller must not reap a child in
/// between, because the kernel tracks the position by count.
void visit_children(bool (*visit)(pid_t child, void* context), void* context);

/// All processes below `root`, excluding it. A process whose parent exits during the walk may be missed.
std::size_t descendants(pid_t root, std::span<pid_t> found);

/// Visits the processes below `root`, parents first; the result of `visit` says how to continue.
enum class Step : unsigned char { Into, Past, Stop };
std::size_t walk_below(pid_t root, std::span<pid_t> found, Step (*visit)(pid_t pid, void* context),
                       void* context);

/// Memory held by a process with shared pages divided by their users (PSS); the resident size where PSS is
/// not readable.
std::uint64_t memory_of(pid_t pid);

}  // namespace corral::keeper
