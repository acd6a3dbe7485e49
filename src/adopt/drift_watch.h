// Finds entries that were adopted and that a client, or somebody else, has changed since. Looks again and
// again: a file is read only if it is not the one that was read last (time, size and inode).
//
// The watchdog of the daemon owns it; used on one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "adopt/drift.h"
#include "adopt/ledger.h"

namespace corral::adopt {

/// An entry that is not as corral wrote it. Names only.
struct Drifted {
  std::string client;  // id
  std::string file;
  std::string server;
  Standing standing = Standing::Unknown;

  bool operator==(const Drifted&) const = default;
};

class DriftWatch {
 public:
  /// Files beyond this number are not watched: the ledger has a row for each entry, and each look stats each
  /// file.
  static constexpr std::size_t kMostFiles = 256;

  /// The ledger is in this directory.
  explicit DriftWatch(std::string state_directory) : state_directory_(std::move(state_directory)) {}

  /// What has drifted, or drifted further, since the last look; at the first one, everything that has. A file
  /// that cannot be read is looked at again and says nothing.
  std::vector<Drifted> look();

 private:
  /// Of a file that is not there, everything is zero.
  struct Stamp {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t size = 0;
    std::int64_t changed_ns = 0;

    bool operator==(const Stamp&) const = default;
  };
  using Entry = std::pair<std::string, std::vector<std::string>>;  // file and keys

  static Stamp stamp_of(const std::string& path);
  void read_rows();

  const std::string state_directory_;
  Stamp ledger_;
  bool looked_ = false;
  std::vector<LedgerRow> rows_;
  std::map<std::string, Stamp> files_;
  std::map<Entry, Standing> told_;  // of rows that are not as corral wrote them
};

}  // namespace corral::adopt
