// What corral has changed in the files of clients, one row for each entry: a file in the state directory. It
// has what is needed to take corral's words away again and to notice that somebody else has changed an entry,
// but no argument of a server, because that may be a credential.
//
// Each change of a file is written down before it is made (`Pending`) and again when it is done, so that a
// crash in between leaves a row that the next run compares with the file. What is released under a running
// client that writes the file from memory is `Pending` again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "adopt/entry_text.h"
#include "adopt/judgement.h"
#include "adopt/wrapping.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace corral::adopt {

constexpr const char* kLedgerFile = "adopted.json";  // in the state directory

struct LedgerRow {
  enum class State : std::uint8_t { Pending, Done };

  std::string client;             // id
  std::string file;               // as it is found for the user, symbolic links not followed
  std::string table;              // "projects/*/mcpServers"
  std::vector<std::string> keys;  // from the root of the file to the entry
  Shape shape = Shape::Pair;
  Through through = Through::Connect;
  std::string program;
  Undo undo;
  std::string original_hash;  // of command and arguments, before and after
  std::string ours_hash;
  std::string time;     // "2026-11-19T20:17:33Z"
  std::string version;  // of corral
  State state = State::Done;

  const std::string& name() const { return keys.back(); }
  bool is_about(const std::string& some_file, const EntryText& entry) const {
    return file == some_file && keys == entry.keys;
  }
};

/// No file = no rows. The error names the line of a file that cannot be understood; such a file is never
/// written over.
Result<std::vector<LedgerRow>> read_ledger(const std::string& state_directory);

/// The ledger, locked against other processes for as long as this lives.
class Ledger {
 public:
  /// Waits up to 5 s for another process.
  static Result<Ledger> open(const std::string& state_directory);

  std::vector<LedgerRow>& rows() { return rows_; }
  Result<void> save() const;

 private:
  Ledger() = default;

  std::string file_;
  UniqueFd lock_;
  std::vector<LedgerRow> rows_;
};

}  // namespace corral::adopt
