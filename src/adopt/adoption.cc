#include "adopt/adoption.h"

#include <algorithm>
#include <map>
#include <optional>

#include "adopt/drift.h"
#include "adopt/safe_copy.h"
#include "base/utc_time.h"
#include "base/words.h"
#include "config/file.h"
#include "known/config_text.h"
#include "version.h"

namespace corral::adopt {
namespace {

using config::Commit;
using config::FileUpdate;

constexpr int kMostAttempts = 5;

/// The text of a file on its way from the old to the new.
struct Draft {
  known::ConfigFormat format;
  known::ConfigText before;
  std::vector<config::Edit> edits;
  std::vector<Expected> expected;
};

/// Checks the new text, keeps a copy of the old one, and returns the new one.
Result<std::string> finish(const Draft& draft, const std::string& path, const std::string& old,
                           const Desk& desk, std::string& copy) {
  std::string text = config::applied(old, draft.edits);
  const Result<void> good = check_change(draft.before.value, draft.expected, text, draft.format);
  if (!good) return Error{"'" + path + "': " + good.error().message + "."};
  constexpr std::size_t kDateLength = 10;
  const Result<std::string> kept =
      keep_copy(desk.state_directory, path, old, show_utc(desk.unix_ms).substr(0, kDateLength));
  if (!kept) return kept.error();
  copy = *kept;
  return {boost::system::in_place_value, std::move(text)};
}

/// Repeats `attempt` while other programs change the file. `attempt` returns what became of it, or an error.
template <class Attempt>
void repeat(FileOutcome& outcome, const std::string& path, const Attempt& attempt) {
  for (int i = 0; i < kMostAttempts; ++i) {
    outcome = {};
    const Result<Commit> done = attempt(outcome);
    if (!done) outcome.error = done.error().message;
    if (!done || *done == Commit::Done) return;
  }
  outcome = {};
  outcome.error = "'" + path + "' was changed by another program each time, so corral did not write it. " +
                  "Close that program, or try again.";
}

// ---- adopt

class Adoption {
 public:
  Adoption(const Adopting& adopting, const Desk& desk, Ledger& ledger)
      : adopting_(adopting), desk_(desk), ledger_(ledger) {}

  Result<Commit> attempt(FileOutcome& outcome) {
    const std::string& path = adopting_.file.path;
    Result<FileUpdate> update = FileUpdate::begin(path, config::FileOwner::OtherProgram);
    if (!update) return update.error();
    const Result<std::vector<FoundServer>> servers =
        read_servers(adopting_.file, update->text(), adopting_.through);
    if (!servers) return servers.error();
    const known::ConfigFormat format = format_of(path);
    Draft draft{format, known::parse_config(update->text(), format), {}, {}};
    std::vector<LedgerRow> rows;
    for (const AgreedServer& agreed : adopting_.servers) {
      add(agreed, *servers, update->text(), draft, rows, outcome);
    }
    if (rows.empty()) return Commit::Done;
    const Result<std::string> text = finish(draft, path, update->text(), desk_, outcome.copy);
    if (!text) return text.error();
    return commit(*update, *text, rows);
  }

  /// After a change that was not made, nothing must look like one. Rows of other servers stay: they may be of
  /// a release that a running client puts back.
  void forget_pending() {
    const std::size_t before = ledger_.rows().size();
    std::erase_if(ledger_.rows(), [this](const LedgerRow& row) {
      const auto is_asked_for = [&row](const AgreedServer& one) { return one.keys == row.keys; };
      return row.file == adopting_.file.path && row.state == LedgerRow::State::Pending &&
             std::any_of(adopting_.servers.begin(), adopting_.servers.end(), is_asked_for);
    });
    if (ledger_.rows().size() != before) static_cast<void>(ledger_.save());
  }

 private:
  void add(const AgreedServer& agreed, const std::vector<FoundServer>& servers, const std::string& text,
           Draft& draft, std::vector<LedgerRow>& rows, FileOutcome& outcome) const {
    const auto found = std::find_if(servers.begin(), servers.end(), [&agreed](const FoundServer& one) {
      return one.entry.keys == agreed.keys;
    });
    const std::string& name = agreed.keys.back();
    if (found == servers.end()) return outcome.refused.emplace_back(name, "it has gone meanwhile"), void();
    if (found->judged.verdict == Verdict::Kept) return;  // somebody else was quicker
    if (found->hash != agreed.hash || found->judged.verdict != Verdict::Wrap) {
      return outcome.refused.emplace_back(name, "it was changed meanwhile: look at it again"), void();
    }
    const Front front{adopting_.program, found->judged.words};
    Wrapped wrapped = wrap(text, draft.format, found->entry, front);
    std::move(wrapped.edits.begin(), wrapped.edits.end(), std::back_inserter(draft.edits));
    draft.expected.push_back({agreed.keys, wrapped_value(found->entry, front)});
    rows.push_back(row_of(*found, front, wrapped.last_line));
    outcome.changed.push_back(name);
  }

  LedgerRow row_of(const FoundServer& found, const Front& front, LastLine last_line) const {
    LedgerRow row;
    row.client = adopting_.file.client->id;
    row.file = adopting_.file.path;
    row.table = found.entry.table;
    row.keys = found.entry.keys;
    row.shape = found.entry.shape;
    row.through = found.judged.through;
    row.program = front.program;
    row.undo = {front.words.size(), found.entry.arguments, last_line};
    row.original_hash = found.hash;
    row.ours_hash = hash_of(wrapped_value(found.entry, front));
    row.time = show_utc(desk_.unix_ms);
    row.version = kVersion;
    row.state = LedgerRow::State::Pending;
    return row;
  }

  Result<Commit> commit(FileUpdate& update, const std::string& text, const std::vector<LedgerRow>& rows) {
    std::vector<LedgerRow>& all = ledger_.rows();
    for (const LedgerRow& row : rows) {
      std::erase_if(all,
                    [&row](const LedgerRow& old) { return old.file == row.file && old.keys == row.keys; });
    }
    const std::size_t first = all.size();
    all.insert(all.end(), rows.begin(), rows.end());
    const Result<void> written_down = ledger_.save();
    if (!written_down) return written_down.error();
    if (desk_.before_commit) desk_.before_commit();
    Result<Commit> done = update.try_commit(text);
    if (!done || *done != Commit::Done) return done;
    for (std::size_t i = first; i < all.size(); ++i) all[i].state = LedgerRow::State::Done;
    static_cast<void>(ledger_.save());  // if this fails, the next run finds the change in the file
    return Commit::Done;
  }

  const Adopting& adopting_;
  const Desk& desk_;
  Ledger& ledger_;
};

// ---- release

class Releasing {
 public:
  Releasing(const std::string& path, const std::vector<std::string>& clients, const Desk& desk,
            Ledger& ledger, Released released)
      : path_(path), clients_(clients), desk_(desk), ledger_(ledger), released_(released) {}

  Result<Commit> attempt(FileOutcome& outcome) {
    settled_.clear();
    Result<FileUpdate> update = FileUpdate::begin(path_, config::FileOwner::OtherProgram);
    if (!update && update.error().kind == Error::Kind::NotFound) return drop_all(outcome);
    if (!update) return update.error();
    const known::ConfigFormat format = format_of(path_);
    Draft draft{format, known::parse_config(update->text(), format), {}, {}};
    if (!draft.before.error.empty()) return config_error(draft.before.error);
    std::map<std::string, std::vector<EntryText>> entries;  // by table
    for (const LedgerRow& row : ledger_.rows()) {
      if (!is_mine(row)) continue;
      const auto [found, is_new] = entries.try_emplace(row.table);
      if (is_new) found->second = find_entries({update->text(), draft.before.value, format}, row.table);
      release(row, find_row(row, found->second), update->text(), draft, outcome);
    }
    if (draft.edits.empty()) return forget();
    const Result<std::string> text = finish(draft, path_, update->text(), desk_, outcome.copy);
    if (!text) return text.error();
    if (desk_.before_commit) desk_.before_commit();
    const Result<Commit> done = update->try_commit(*text);
    return done && *done == Commit::Done ? forget() : done;
  }

 private:
  bool is_mine(const LedgerRow& row) const {
    return row.file == path_ && (clients_.empty() || contains(clients_, row.client));
  }

  Error config_error(const std::string& error) const {
    return Error{"'" + path_ + "' is not valid, so it was left alone: " + error + "."};
  }

  void settle(const LedgerRow& row) { settled_.push_back(row.keys); }

  void release(const LedgerRow& row, const EntryText* entry, const std::string& text, Draft& draft,
               FileOutcome& outcome) {
    const auto drop = [&](const char* why) {
      settle(row);
      if (row.state == LedgerRow::State::Done) outcome.dropped.emplace_back(row.name(), why);
    };
    switch (standing_of(row, entry)) {
      case Standing::Gone: return drop("it is no longer in the file");
      case Standing::Undone: return drop("it was put back already");
      case Standing::Replaced: return drop("it was replaced by another command, which stays");
      case Standing::Changed:
        outcome.refused.emplace_back(row.name(), "it was changed since: correct it by hand");
        return;
      case Standing::Unknown: return;
      case Standing::Ours: break;
    }
    if (!entry->refusal.empty()) return outcome.refused.emplace_back(row.name(), entry->refusal), void();
    Result<std::vector<config::Edit>> edits = unwrap(text, *entry, row.undo);
    if (!edits) return outcome.refused.emplace_back(row.name(), edits.error().message), void();
    std::move(edits->begin(), edits->end(), std::back_inserter(draft.edits));
    draft.expected.push_back({row.keys, unwrapped_value(*entry, row.undo)});
    outcome.changed.push_back(row.name());
    settle(row);
  }

  Result<Commit> drop_all(FileOutcome& outcome) {
    for (const LedgerRow& row : ledger_.rows()) {
      if (!is_mine(row)) continue;
      outcome.dropped.emplace_back(row.name(), "its file is no longer there");
      settle(row);
    }
    return forget();
  }

  /// Removes the rows of what is done, or keeps them as if it had only begun.
  Result<Commit> forget() {
    if (settled_.empty()) return Commit::Done;
    const auto is_settled = [this](const LedgerRow& row) {
      return is_mine(row) && contains(settled_, row.keys);
    };
    for (LedgerRow& row : ledger_.rows()) {
      if (is_settled(row)) row.state = LedgerRow::State::Pending;
    }
    if (released_ == Released::Forgotten) std::erase_if(ledger_.rows(), is_settled);
    const Result<void> saved = ledger_.save();
    if (!saved) return saved.error();
    return Commit::Done;
  }

  const std::string& path_;
  const std::vector<std::string>& clients_;
  const Desk& desk_;
  Ledger& ledger_;
  Released released_;
  std::vector<std::vector<std::string>> settled_;  // keys of rows that are not needed any more
};

}  // namespace

FileOutcome adopt_file(const Adopting& adopting, const Desk& desk) {
  FileOutcome outcome;
  Result<Ledger> ledger = Ledger::open(desk.state_directory);
  if (!ledger) {
    outcome.error = ledger.error().message;
    return outcome;
  }
  Adoption adoption(adopting, desk, *ledger);
  repeat(outcome, adopting.file.path, [&](FileOutcome& now) { return adoption.attempt(now); });
  if (!outcome.error.empty()) {
    outcome.changed.clear();
    adoption.forget_pending();
  }
  return outcome;
}

FileOutcome release_file(const std::string& path, const std::vector<std::string>& clients, const Desk& desk,
                         Released released) {
  FileOutcome outcome;
  Result<Ledger> ledger = Ledger::open(desk.state_directory);
  if (!ledger) {
    outcome.error = ledger.error().message;
    return outcome;
  }
  Releasing releasing(path, clients, desk, *ledger, released);
  repeat(outcome, path, [&](FileOutcome& now) { return releasing.attempt(now); });
  if (!outcome.error.empty()) outcome.changed.clear();
  return outcome;
}

}  // namespace corral::adopt
