#include "adopt/ledger.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <boost/json.hpp>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/files.h"
#include "config/file.h"
#include "config/reading.h"
#include "config/text_places.h"
#include "known/config_text.h"
#include "wire/json_text.h"

namespace corral::adopt {
namespace {

namespace json = boost::json;

constexpr std::int64_t kLedgerSchema = 1;
constexpr std::array<const char*, 3> kShapes = {"pair", "list", "object"};
constexpr std::array<const char*, 3> kArguments = {"list", "absent", "null"};

template <std::size_t kCount>
std::optional<std::uint8_t> index_of(const std::array<const char*, kCount>& words, std::string_view word) {
  for (std::size_t i = 0; i < kCount; ++i) {
    if (word == words[i]) return static_cast<std::uint8_t>(i);
  }
  return std::nullopt;
}

const json::string* row_text(const json::object& row, const char* key) {
  const json::value* const value = row.if_contains(key);
  return value == nullptr ? nullptr : value->if_string();
}

bool take_text(const json::object& row, const char* key, std::string& into) {
  const json::string* const text = row_text(row, key);
  if (text != nullptr) into.assign(text->data(), text->size());
  return text != nullptr && !text->empty();
}

template <class Kind, std::size_t kCount>
bool take_kind(const json::object& row, const char* key, const std::array<const char*, kCount>& words,
               Kind& into) {
  const json::string* const text = row_text(row, key);
  const std::optional<std::uint8_t> index = text == nullptr ? std::nullopt : index_of(words, *text);
  if (index) into = static_cast<Kind>(*index);
  return index.has_value();
}

bool take_keys(const json::object& row, std::vector<std::string>& into) {
  const json::value* const list = row.if_contains("keys");
  if (list == nullptr || !list->is_array() || list->get_array().empty()) return false;
  for (const json::value& key : list->get_array()) {
    if (!key.is_string()) return false;
    into.emplace_back(key.get_string());
  }
  return true;
}

std::optional<LedgerRow> row_from(const json::value& value) {
  const json::object* const object = value.if_object();
  if (object == nullptr) return std::nullopt;
  LedgerRow row;
  const json::value* const words = object->if_contains("words");
  const bool counted =
      words != nullptr && words->is_int64() && words->get_int64() > 0 && words->get_int64() < 100;
  if (counted) row.undo.words = static_cast<std::size_t>(words->get_int64());
  const bool whole =
      counted && take_text(*object, "client", row.client) && take_text(*object, "file", row.file) &&
      take_text(*object, "table", row.table) && take_keys(*object, row.keys) &&
      take_kind(*object, "shape", kShapes, row.shape) &&
      take_kind(*object, "through", std::array<const char*, 2>{"connect", "run"}, row.through) &&
      take_text(*object, "program", row.program) &&
      take_kind(*object, "args", kArguments, row.undo.arguments) &&
      take_kind(*object, "last_line", std::array<const char*, 2>{"whole", "open"}, row.undo.last_line) &&
      take_text(*object, "original_hash", row.original_hash) &&
      take_text(*object, "ours_hash", row.ours_hash) && take_text(*object, "time", row.time) &&
      take_text(*object, "version", row.version) &&
      take_kind(*object, "state", std::array<const char*, 2>{"pending", "done"}, row.state);
  return whole ? std::optional(std::move(row)) : std::nullopt;
}

std::string row_line(const LedgerRow& row) {
  std::string keys;
  for (const std::string& key : row.keys) keys += (keys.empty() ? "" : ", ") + wire::quoted(key);
  const auto text = [](const char* key, std::string_view value) {
    return ", \"" + std::string(key) + "\": " + wire::quoted(value);
  };
  return "  {\"client\": " + wire::quoted(row.client) + text("file", row.file) + text("table", row.table) +
         ", \"keys\": [" + keys + "]" + text("shape", kShapes[static_cast<std::size_t>(row.shape)]) +
         text("through", name_of(row.through)) + text("program", row.program) +
         ", \"words\": " + std::to_string(row.undo.words) +
         text("args", kArguments[static_cast<std::size_t>(row.undo.arguments)]) +
         text("last_line", row.undo.last_line == LastLine::Open ? "open" : "whole") +
         text("original_hash", row.original_hash) + text("ours_hash", row.ours_hash) +
         text("time", row.time) + text("version", row.version) +
         text("state", row.state == LedgerRow::State::Done ? "done" : "pending") + "}";
}

/// The line of element `index` of "entries".
int line_of_row(const std::string& text, std::size_t index) {
  std::size_t at = 0;
  config::walk_object(text, config::skip_blanks(text, 0),
                      [&](const std::string& key, const config::MemberPlace& place) {
                        if (key == "entries") at = config::find_element(text, place.value, index);
                        return true;
                      });
  return config::LineCounter(text).line_of(at);
}

Error ledger_error(const std::string& file, int line, const std::string& what) {
  return Error{
      file + ":" + std::to_string(line) + ": " + what +
      ". It says what `corral adopt` has changed, so nothing was changed. Correct it, or put the copy " +
      base_name(file) + ".bak in its place."};
}

Result<std::vector<LedgerRow>> parse_ledger(const std::string& text, const std::string& file) {
  const known::ConfigText parsed = known::parse_json_config(text);
  if (!parsed.error.empty()) {
    return Error{config::parse_error(file, parsed.error).message +
                 " It says what `corral adopt` has changed, so nothing was changed."};
  }
  const json::object* const object = parsed.value.if_object();
  const json::value* const schema = object == nullptr ? nullptr : object->if_contains("schema");
  const json::value* const list = object == nullptr ? nullptr : object->if_contains("entries");
  if (schema == nullptr || !schema->is_int64() || list == nullptr || !list->is_array()) {
    return ledger_error(file, 1, "this is not a ledger: \"schema\" and \"entries\" are missing");
  }
  if (schema->get_int64() > kLedgerSchema) {
    return Error{file + " was written by a newer version of corral. Run that version."};
  }
  std::vector<LedgerRow> rows;
  for (const json::value& one : list->get_array()) {
    std::optional<LedgerRow> row = row_from(one);
    if (!row) return ledger_error(file, line_of_row(text, rows.size()), "this row is not complete");
    rows.push_back(std::move(*row));
  }
  return rows;
}

Error no_lock(const std::string& directory, int error) {
  return Error{"'" + directory + "' cannot be written: " + strerror(error) +
               ". corral writes down there what it changes, so nothing was changed."};
}

}  // namespace

Result<std::vector<LedgerRow>> read_ledger(const std::string& state_directory) {
  const std::string file = state_directory + "/" + kLedgerFile;
  const Result<config::FileText> text = config::read_text(file);
  if (!text && text.error().kind == Error::Kind::NotFound) return std::vector<LedgerRow>();
  if (!text) return text.error();
  return parse_ledger(text->text, file);
}

Result<Ledger> Ledger::open(const std::string& state_directory) {
  if (state_directory.empty()) return Error{"there is no home directory, so nothing can be written down"};
  Ledger ledger;
  ledger.file_ = state_directory + "/" + kLedgerFile;
  make_private_directories(state_directory);
  const std::string lock = state_directory + "/adopted.lock";
  ledger.lock_ = UniqueFd(::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!ledger.lock_.valid()) return no_lock(state_directory, errno);
  if (!lock_with_patience(ledger.lock_.get())) {
    return Error{"another `corral adopt` or `corral release` has been at work for 5 s. Try again."};
  }
  Result<std::vector<LedgerRow>> rows = read_ledger(state_directory);
  if (!rows) return rows.error();
  ledger.rows_ = std::move(*rows);
  return ledger;
}

Result<void> Ledger::save() const {
  std::string text = "{\"schema\": " + std::to_string(kLedgerSchema) + ", \"entries\": [";
  for (const LedgerRow& row : rows_) text += (&row == &rows_.front() ? "\n" : ",\n") + row_line(row);
  Result<config::FileUpdate> update = config::FileUpdate::begin(file_);
  if (!update) return update.error();
  return update->commit(text + "\n]}\n");
}

}  // namespace corral::adopt
