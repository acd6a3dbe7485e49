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

/// The same, but if there are more than fit, those that came to us last; newest first.
std::size_t newest_children(std::span<pid_t> found);

/// All of them, however many, one after the other, for as long as `visit` answers true. None may be reaped
/// meanwhile: the kernel counts where we are.
void visit_children(bool (*visit)(pid_t child, void* context), void* context);

/// All processes below `root`, without it. A process whose parent ends meanwhile may be missed.
std::size_t descendants(pid_t root, std::span<pid_t> found);

/// The same, one after the other and parents first; `visit` says for each how to go on.
enum class Step : unsigned char { Into, Past, Stop };
std::size_t walk_below(pid_t root, std::span<pid_t> found, Step (*visit)(pid_t pid, void* context),
                       void* context);

/// Memory that a process holds, shared pages divided by their users (PSS); resident size where that is
/// hidden.
std::uint64_t memory_of(pid_t pid);

}  // namespace corral::keeper
