// Compares what corral wrote into a client's file with what is there now. Reads files, changes nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "adopt/ledger.h"

namespace corral::adopt {

enum class Standing : std::uint8_t {
  Ours,      // as corral wrote it
  Undone,    // as it was before: somebody has put it back
  Changed,   // goes through corral, but is not what corral wrote
  Replaced,  // is something else, and does not go through corral
  Gone,      // the entry, or the whole file, is not there any more
  Unknown,   // the file cannot be read
};

/// `entry` is null if it is not in the file.
Standing standing_of(const LedgerRow& row, const EntryText* entry);

/// The servers of the row's table in a parsed file.
const EntryText* find_row(const LedgerRow& row, const std::vector<EntryText>& entries);

/// One for each row, in their order. Each file is read once.
std::vector<Standing> compare_with_files(const std::vector<LedgerRow>& rows);

/// Whether the row is about a change that is not in the file and need not be: it was not made, or was
/// released.
bool is_settled(const LedgerRow& row, Standing standing);

/// The rows that are not settled, with what is in the files now.
struct Comparison {
  std::vector<LedgerRow> rows;
  std::vector<Standing> standings;  // one for each row
};
Comparison compare_open_rows(const std::vector<LedgerRow>& rows);

const char* name_of(Standing standing);

}  // namespace corral::adopt
