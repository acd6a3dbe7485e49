// Reads one process after another from an open /proc. Part of ProcessTable::read: one pass, few system calls
// per process, and a bound on everything that a process can make long.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "survey/process.h"
#include "survey/process_table.h"

namespace corral::survey {

class ProcessReader {
 public:
  explicit ProcessReader(int proc) : proc_(proc), buffer_(kLongestCommand) {}

  /// Empty if there is no such process (any more), or if even its name may not be read.
  std::optional<Process> read(const char* name);

  std::vector<Holding> take_holdings() { return std::move(holdings_); }
  std::size_t unreadable() const { return unreadable_; }

 private:
  static constexpr std::size_t kLongestCommand = 256 * 1024;
  static constexpr std::size_t kMostDescriptors = 65536;  // of one process
  // Beyond these sums each process gets the small share that is enough for any server: a user with many long
  // command lines or many open descriptors must not cost memory or time.
  static constexpr std::size_t kCommandsInAll = 32 * 1024 * 1024;
  static constexpr std::size_t kDescriptorsInAll = 4 * 1024 * 1024;
  static constexpr std::size_t kShortCommand = 4096;
  static constexpr std::size_t kFewDescriptors = 64;

  void read_command(int directory, Process& process);
  void read_places(int directory, Process& process) const;
  /// False if the process is gone.
  bool read_descriptors(int directory, Process& process);
  /// False if it may not be read.
  bool read_descriptor(int descriptors, const char* name, int fd, Process& process);

  int proc_;
  std::vector<char> buffer_;
  std::vector<Holding> holdings_;
  std::size_t command_bytes_ = 0;
  std::size_t descriptors_seen_ = 0;
  std::size_t unreadable_ = 0;
};

}  // namespace corral::survey
