#include "adopt/drift.h"

#include <algorithm>
#include <map>
#include <optional>

#include "adopt/client_file.h"
#include "config/file.h"
#include "known/config_text.h"
#include "known/server_command.h"

namespace corral::adopt {
namespace {

/// The text of a file and what it means. Not there = no value; not readable = an error in `parsed`.
struct ReadFile {
  std::string text;
  known::ConfigText parsed;
  std::map<std::string, std::vector<EntryText>> entries{};  // by table; those that were asked for
};

/// Finding the places of a table reads the whole text, so that is done once and not for each row.
const std::vector<EntryText>& entries_of(ReadFile& file, const LedgerRow& row) {
  const auto [found, is_new] = file.entries.try_emplace(row.table);
  if (is_new) found->second = find_entries({file.text, file.parsed.value, format_of(row.file)}, row.table);
  return found->second;
}

std::optional<ReadFile> read_file(const std::string& path) {
  Result<config::FileText> text = config::read_text(path);
  if (!text && text.error().kind == Error::Kind::NotFound) return std::nullopt;
  if (!text) return ReadFile{"", {nullptr, text.error().message}};
  known::ConfigText parsed = known::parse_config(text->text, format_of(path));
  return ReadFile{std::move(text->text), std::move(parsed)};
}

}  // namespace

Standing standing_of(const LedgerRow& row, const EntryText* entry) {
  if (entry == nullptr) return Standing::Gone;
  const std::string hash = hash_of(entry->value);
  if (hash == row.ours_hash) return Standing::Ours;
  if (hash == row.original_hash) return Standing::Undone;
  const std::optional<std::vector<std::string>> words = words_of(entry->value);
  return words && known::goes_through_corral(*words) ? Standing::Changed : Standing::Replaced;
}

const EntryText* find_row(const LedgerRow& row, const std::vector<EntryText>& entries) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const EntryText& one) { return one.keys == row.keys; });
  return found == entries.end() ? nullptr : &*found;
}

std::vector<Standing> compare_with_files(const std::vector<LedgerRow>& rows) {
  std::map<std::string, std::optional<ReadFile>> files;
  std::vector<Standing> standings;
  for (const LedgerRow& row : rows) {
    const auto known = files.find(row.file);
    std::optional<ReadFile>& file =
        known != files.end() ? known->second : files.emplace(row.file, read_file(row.file)).first->second;
    if (!file) {
      standings.push_back(Standing::Gone);
    } else if (!file->parsed.error.empty()) {
      standings.push_back(Standing::Unknown);
    } else {
      standings.push_back(standing_of(row, find_row(row, entries_of(*file, row))));
    }
  }
  return standings;
}

bool is_settled(const LedgerRow& row, Standing standing) {
  const bool without_corral =
      standing == Standing::Undone || standing == Standing::Replaced || standing == Standing::Gone;
  return row.state == LedgerRow::State::Pending && without_corral;
}

Comparison compare_open_rows(const std::vector<LedgerRow>& rows) {
  const std::vector<Standing> standings = compare_with_files(rows);
  Comparison open;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (is_settled(rows[i], standings[i])) continue;
    open.rows.push_back(rows[i]);
    open.standings.push_back(standings[i]);
  }
  return open;
}

const char* name_of(Standing standing) {
  switch (standing) {
    case Standing::Ours: return "adopted";
    case Standing::Undone: return "undone";
    case Standing::Changed: return "changed";
    case Standing::Replaced: return "replaced";
    case Standing::Gone: return "gone";
    case Standing::Unknown: return "unknown";
  }
  return "?";
}

}  // namespace corral::adopt
