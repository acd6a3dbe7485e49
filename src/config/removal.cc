#include "config/removal.h"

#include <algorithm>

#include "base/text.h"
#include "base/words.h"
#include "config/changes.h"
#include "config/configuration.h"
#include "config/server_tables.h"
#include "config/text_edits.h"

namespace corral::config {
namespace {

struct Span {
  std::size_t begin;
  std::size_t end;
};

std::size_t skip_spaces(const std::string& text, std::size_t at) {
  return std::min(text.find_first_not_of(" \t", at), text.size());
}

/// The comments between two places, without their line ends. There must be only comments and white space
/// between the places.
std::vector<Span> comments_between(const std::string& text, std::size_t begin, std::size_t end) {
  std::vector<Span> comments;
  for (std::size_t at = text.find('/', begin); at < end; at = text.find('/', at)) {
    const bool line = text.compare(at, 2, "//") == 0;
    const std::size_t close = line ? text.find('\n', at) : text.find("*/", at + 2);
    const std::size_t behind = close == std::string::npos ? text.size() : close + (line ? 0 : 2);
    comments.push_back({at, std::min(behind, end)});
    at = behind;
  }
  return comments;
}

/// The beginning of the comment lines directly above the line that begins at `line`; `line` if there are
/// none.
std::size_t above(const std::string& text, std::size_t before, std::size_t line) {
  const std::vector<Span> comments = comments_between(text, before, line);
  for (auto comment = comments.rbegin(); comment != comments.rend(); ++comment) {
    const auto gap = text.begin() + static_cast<std::ptrdiff_t>(comment->end);
    const auto line_ends = std::count(gap, text.begin() + static_cast<std::ptrdiff_t>(line), '\n');
    if (line_ends > 1 || !begins_its_line(text, comment->begin)) break;
    line = line_start(text, comment->begin);
  }
  return line;
}

/// The beginning of the next line, if the rest of this one has only white space and at most one comment.
std::optional<std::size_t> rest_of_line(const std::string& text, std::size_t at) {
  at = skip_spaces(text, at);
  const std::size_t newline = std::min(text.find('\n', at), text.size());
  if (text.compare(at, 2, "//") == 0) {
    at = newline;
  } else if (text.compare(at, 2, "/*") == 0) {
    at = skip_spaces(text, std::min(text.find("*/", at + 2), text.size() - 2) + 2);
  }
  if (at < newline && text[at] == '\r') ++at;
  if (at != newline || newline == text.size()) return std::nullopt;
  return newline + 1;
}

/// The ranges to remove, in the order of the text.
std::vector<Edit> cut(const std::string& text, const EntryPlace& entry) {
  const auto& [key, value, value_end] = entry.member;
  const std::size_t next = skip_blanks(text, value_end);
  const bool has_comma = next < text.size() && text[next] == ',';
  std::size_t begin = key;
  std::size_t end = has_comma ? next + 1 : value_end;
  const std::optional<std::size_t> line_end = rest_of_line(text, end);
  if (begins_its_line(text, key) && line_end) {
    begin = above(text, entry.before, line_start(text, key));
    end = *line_end;
  } else if (has_comma) {
    end = skip_spaces(text, end);
  }
  if (has_comma || text[entry.before - 1] != ',') return {{begin, end, ""}};
  // This was the last entry, so the comma before it is removed too, with the white space between them.
  if (skip_spaces(text, entry.before) == begin) return {{entry.before - 1, end, ""}};
  return {{entry.before - 1, entry.before, ""}, {begin, end, ""}};
}

Error no_server(const std::string& file, const std::string& name, const ServerTables& tables) {
  std::vector<std::string> names;
  for (const auto& [known, place] : tables.entries) names.push_back(known);
  const std::string close = nearest_word(name, names);
  return Error{
      "no server in '" + file + "' is called '" + printable(name) + "'. " +
          (close.empty() ? "`corral list` shows the servers." : "Did you mean '" + printable(close) + "'?"),
      Error::Kind::NotFound};
}

/// Verifies the result before it replaces the user's file: only this one server may be missing.
Result<void> check(const Configuration& before, const std::string& text, const std::string& file,
                   const std::string& name) {
  const Result<Configuration> after = parse(text, file);
  if (!after)
    return Error{"the changed file would be invalid, so it was left alone: " + after.error().message};
  const Changes found = changes(before, *after);
  const bool only_this =
      found.removed.empty() ? before.find(name) == nullptr : found.removed == std::vector<std::string>{name};
  if (only_this && found.added.empty() && found.changed.empty() &&
      find_tables(text).entries.count(name) == 0) {
    return {};
  }
  return Error{"'" + name + "' could not be removed from '" + file +
               "', so it was left alone. Remove it by hand."};
}

}  // namespace

Result<std::string> remove_server(const std::string& text, const std::string& file, const std::string& name) {
  const Result<Configuration> before = parse(text, file);
  if (!before) return before.error();
  const ServerTables tables = find_tables(text);
  const auto entry = tables.entries.find(name);
  if (entry == tables.entries.end()) return no_server(file, name, tables);
  std::string changed = applied(text, cut(text, entry->second));
  const Result<void> good = check(*before, changed, file, name);
  if (!good) return good.error();
  return {boost::system::in_place_value, std::move(changed)};
}

}  // namespace corral::config
