// All visible processes of this machine, read in one pass. Processes that exit while they are read are left
// out; what may not be read of the others stays empty. A value: once it is read it does not change.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "survey/process.h"

namespace corral::survey {

/// "pipe:[12]", "socket:[12]", "/dev/null", "/dev/pts/3", …
Stream parse_stream(std::string_view link);

/// One descriptor of a process that is an end of a pipe or a socket.
struct Holding {
  std::uint64_t inode = 0;
  pid_t pid = 0;
  int fd = -1;
  bool socket = false;
  bool reads = false;
  bool writes = false;
};

class ProcessTable {
 public:
  /// `proc` is another directory in tests only.
  static Result<ProcessTable> read(const std::string& proc = "/proc");

  /// For tests, and for a table that was not read from /proc.
  ProcessTable(std::vector<Process> processes, std::vector<Holding> holdings, std::uint64_t ticks_now,
               long ticks_per_second);

  std::span<const Process> all() const { return processes_; }  // by pid
  const Process* find(pid_t pid) const;
  std::span<const pid_t> children(pid_t pid) const;
  /// The process and everything below it, parents before their children.
  std::vector<pid_t> tree(pid_t pid) const;
  /// From the parent up to the first process without a visible parent.
  std::vector<pid_t> ancestors(pid_t pid) const;
  /// The processes that have an end of this pipe or socket open.
  std::span<const Holding> holders(std::uint64_t inode) const;
  std::span<const Holding> holdings() const { return holdings_; }  // all that were seen, by inode

  std::chrono::milliseconds age(const Process& process) const;
  std::chrono::system_clock::time_point started(const Process& process) const;

  /// How many processes have descriptors that may not be read (those of other users, unless this is root).
  std::size_t unreadable() const { return unreadable_; }
  /// /proc shows only the processes of this user (mount option hidepid).
  bool others_hidden() const { return others_hidden_; }

 private:
  void index();

  std::vector<Process> processes_;
  std::vector<Holding> holdings_;  // by inode
  std::unordered_map<pid_t, std::size_t> by_pid_;
  std::unordered_map<pid_t, std::vector<pid_t>> children_;
  std::uint64_t ticks_now_ = 0;
  long ticks_per_second_ = 100;
  std::chrono::system_clock::time_point now_ = std::chrono::system_clock::now();
  std::size_t unreadable_ = 0;
  bool others_hidden_ = false;
};

}  // namespace corral::survey
