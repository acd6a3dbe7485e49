#include "adopt/drift_watch.h"

#include <sys/stat.h>

#include <algorithm>
#include <set>

namespace corral::adopt {

DriftWatch::Stamp DriftWatch::stamp_of(const std::string& path) {
  struct stat about {};
  if (stat(path.c_str(), &about) != 0) return {};
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  return {about.st_dev, about.st_ino, about.st_size,
          about.st_ctim.tv_sec * kNanoseconds + about.st_ctim.tv_nsec};
}

void DriftWatch::read_rows() {
  const Stamp now = stamp_of(state_directory_ + "/" + kLedgerFile);
  if (looked_ && now == ledger_) return;
  looked_ = true;
  Result<std::vector<LedgerRow>> rows = read_ledger(state_directory_);
  if (!rows) return;  // `corral adopt` says what is wrong with it
  ledger_ = now;
  rows_.clear();
  files_.clear();
  for (LedgerRow& row : *rows) {
    if (row.state == LedgerRow::State::Done) rows_.push_back(std::move(row));
  }
  std::set<Entry> entries;
  for (const LedgerRow& row : rows_) entries.emplace(row.file, row.keys);
  std::erase_if(told_, [&entries](const auto& told) { return !entries.contains(told.first); });
}

std::vector<Drifted> DriftWatch::look() {
  read_rows();
  std::set<std::string> changed;
  for (const LedgerRow& row : rows_) {
    if (changed.contains(row.file)) continue;
    const auto known = files_.find(row.file);
    if (known == files_.end() && files_.size() >= kMostFiles) continue;
    const Stamp now = stamp_of(row.file);
    if (known != files_.end() && known->second == now) continue;
    files_[row.file] = now;
    changed.insert(row.file);
  }
  std::vector<LedgerRow> concerned;
  std::copy_if(rows_.begin(), rows_.end(), std::back_inserter(concerned),
               [&changed](const LedgerRow& row) { return changed.contains(row.file); });
  const std::vector<Standing> standings = compare_with_files(concerned);
  std::vector<Drifted> drifted;
  for (std::size_t i = 0; i < concerned.size(); ++i) {
    const LedgerRow& row = concerned[i];
    const Entry entry{row.file, row.keys};
    if (standings[i] == Standing::Unknown) {
      files_.erase(row.file);  // it is being written, or a person has to repair it
    } else if (standings[i] == Standing::Ours) {
      told_.erase(entry);
    } else if (const auto told = told_.find(entry); told == told_.end() || told->second != standings[i]) {
      told_[entry] = standings[i];
      drifted.push_back({row.client, row.file, row.name(), standings[i]});
    }
  }
  return drifted;
}

}  // namespace corral::adopt
