#include "adopt/wrapping.h"

#include <algorithm>
#include <boost/json.hpp>
#include <string_view>

#include "known/config_text.h"

namespace corral::adopt {
namespace {

namespace json = boost::json;

using config::Edit;
using config::TextRange;
using known::ConfigFormat;

/// A string of JSON, which is a basic string of TOML, too.
std::string token_of(const std::string& word) { return json::serialize(json::string(word)); }

std::string tokens_of(const std::vector<std::string>& words) {
  std::string tokens;
  for (const std::string& word : words) tokens += (tokens.empty() ? "" : ", ") + token_of(word);
  return tokens;
}

/// "\r\n" if the line that contains `at` ends so, or if it is the last one, the line before it.
std::string newline_at(const std::string& text, std::size_t at) {
  std::size_t end = text.find('\n', at);
  if (end == std::string::npos && at > 0) end = text.rfind('\n', at - 1);
  return end != std::string::npos && end > 0 && text[end - 1] == '\r' ? "\r\n" : "\n";
}

/// The new elements at the front of a list, in the layout of the first one.
Edit put_in_front(const std::string& text, std::size_t list, const std::vector<TextRange>& elements,
                  const std::string& tokens) {
  if (elements.empty()) return {list + 1, list + 1, tokens};
  const std::size_t first = elements.front().begin;
  if (!config::begins_its_line(text, first)) return {first, first, tokens + ", "};
  return {first, first, tokens + "," + newline_at(text, first) + config::indent_of(text, first)};
}

/// A list of arguments after a command that has none.
Edit add_arguments(const std::string& text, const EntryText& entry, ConfigFormat format,
                   const std::string& tokens, LastLine& last_line) {
  const std::size_t end = entry.command.end;
  const std::string newline = newline_at(text, end);
  const std::string indent = config::indent_of(text, entry.command.key);
  const std::string list = "[" + tokens + "]";
  if (entry.own_lines) {
    const std::size_t line_end = text.find('\n', end);
    const bool open = line_end == std::string::npos;
    last_line = open ? LastLine::Open : LastLine::Whole;
    const std::size_t at = open ? text.size() : line_end + 1;
    return {at, at, (open ? newline : "") + indent + "args = " + list + (open ? "" : newline)};
  }
  const bool lines = config::begins_its_line(text, entry.command.key);
  const std::string key = format == ConfigFormat::Json ? "\"args\": " : "args = ";
  return {end, end, "," + (lines ? newline + indent : std::string(" ")) + key + list};
}

/// Whether there is anything but separators between the tokens of a range that is to be deleted.
bool has_comment(const std::string& text, std::size_t begin, std::size_t end,
                 const std::vector<TextRange>& tokens) {
  std::string rest;
  for (const TextRange& token : tokens) {
    if (token.begin < begin || token.end > end) continue;
    rest.append(text, begin, token.begin - begin);
    begin = token.end;
  }
  rest.append(text, begin, end - begin);
  return rest.find_first_not_of(" \t\r\n,[]:=") != std::string::npos;
}

std::size_t skip_white(const std::string& text, std::size_t at) {
  return std::min(text.find_first_not_of(" \t\r\n", at), text.size());
}

/// The first `count` elements of the list at `list`, with the separator after them.
TextRange front_of(const std::string& text, std::size_t list, const std::vector<TextRange>& elements,
                   std::size_t count) {
  if (elements.size() > count) return {elements.front().begin, elements[count].begin};
  // All of them: also a comma after the last one, and what is before the first one if that is on its line.
  std::size_t end = elements.back().end;
  const std::size_t next = skip_white(text, end);
  if (next < text.size() && text[next] == ',') end = next + 1;
  const std::size_t first = elements.front().begin;
  const bool same_line = text.find_first_not_of(" \t", list + 1) == first;
  return {same_line ? list + 1 : first, end};
}

/// The lines of "args = […]" in a TOML table.
TextRange lines_of_arguments(const std::string& text, const EntryText& entry, LastLine last_line) {
  const std::size_t line_end = text.find('\n', entry.args.end);
  TextRange range{config::line_start(text, entry.args.key),
                  line_end == std::string::npos ? text.size() : line_end + 1};
  if (line_end == std::string::npos && last_line == LastLine::Open && range.begin > 0) {
    --range.begin;
    if (range.begin > 0 && text[range.begin - 1] == '\r') --range.begin;
  }
  return range;
}

/// The member "args" with one comma.
TextRange member_of_arguments(const std::string& text, const EntryText& entry) {
  if (entry.before_args != 0) return {entry.before_args, entry.args.end};
  const std::size_t comma = skip_white(text, entry.args.end);
  if (comma >= text.size() || text[comma] != ',') return {entry.args.key, entry.args.end};
  return {entry.args.key, skip_white(text, comma + 1)};
}

/// The object that has the command and the arguments.
json::object& holder_of(json::object& entry, Shape shape) {
  return shape == Shape::Object ? entry["command"].get_object() : entry;
}

const char* command_key(Shape shape) { return shape == Shape::Object ? "path" : "command"; }

json::value* value_at(json::value& root, const std::vector<std::string>& keys) {
  json::value* value = &root;
  for (const std::string& key : keys) {
    json::object* const object = value == nullptr ? nullptr : value->if_object();
    value = object == nullptr ? nullptr : object->if_contains(key);
  }
  return value;
}

}  // namespace

Wrapped wrap(const std::string& text, ConfigFormat format, const EntryText& entry, const Front& front) {
  Wrapped result;
  const std::string program = token_of(front.program);
  const config::MemberPlace& command = entry.command;
  if (entry.shape == Shape::List) {
    const std::string tokens = program + ", " + tokens_of(front.words);
    result.edits.push_back(put_in_front(text, command.value, entry.elements, tokens));
    return result;
  }
  const std::string old = text.substr(command.value, command.end - command.value);
  const std::string tokens = tokens_of(front.words) + ", " + old;
  result.edits.push_back({command.value, command.end, program});
  switch (entry.arguments) {
    case Arguments::List:
      result.edits.push_back(put_in_front(text, entry.args.value, entry.elements, tokens));
      break;
    case Arguments::Null:
      result.edits.push_back({entry.args.value, entry.args.end, "[" + tokens + "]"});
      break;
    case Arguments::Absent:
      result.edits.push_back(add_arguments(text, entry, format, tokens, result.last_line));
      break;
  }
  return result;
}

Result<std::vector<Edit>> unwrap(const std::string& text, const EntryText& entry, const Undo& undo) {
  std::vector<Edit> edits;
  const bool list = entry.shape == Shape::List;
  const std::size_t count = undo.words + 1;  // and the program, or the command that moved here
  if (entry.elements.size() < count) return Error{"corral's words are not all there"};
  TextRange gone;
  if (!list) {
    const TextRange& moved = entry.elements[undo.words];
    edits.push_back(
        {entry.command.value, entry.command.end, text.substr(moved.begin, moved.end - moved.begin)});
  }
  if (list || undo.arguments == Arguments::List) {
    gone = front_of(text, list ? entry.command.value : entry.args.value, entry.elements, count);
  } else if (undo.arguments == Arguments::Null && entry.elements.size() == count) {
    edits.push_back({entry.args.value, entry.args.end, "null"});
    gone = {entry.args.value, entry.args.end};
  } else if (entry.elements.size() != count) {
    return Error{"it has more arguments than corral wrote"};
  } else {
    gone =
        entry.own_lines ? lines_of_arguments(text, entry, undo.last_line) : member_of_arguments(text, entry);
  }
  std::vector<TextRange> tokens = entry.elements;
  if (!list && gone.begin <= entry.args.key && entry.args.key < gone.end) {
    const std::size_t length = text[entry.args.key] == 'a' ? 4 : 6;  // args, "args", 'args'
    tokens.insert(tokens.begin(), {entry.args.key, entry.args.key + length});
  }
  if (has_comment(text, gone.begin, gone.end, tokens)) {
    return Error{"a comment is among the words that corral wrote: move it, or undo this entry by hand"};
  }
  if (list || undo.arguments != Arguments::Null) edits.push_back({gone.begin, gone.end, ""});
  return edits;
}

json::object wrapped_value(const EntryText& entry, const Front& front) {
  json::object value = entry.value;
  json::object& holder = holder_of(value, entry.shape);
  json::array args;
  for (const std::string& word : front.words) args.emplace_back(word);
  if (entry.shape == Shape::List) {
    args.insert(args.begin(), json::string(front.program));
    for (const json::value& word : holder["command"].get_array()) args.push_back(word);
    holder["command"] = std::move(args);
    return value;
  }
  args.push_back(holder[command_key(entry.shape)]);
  if (entry.arguments == Arguments::List) {
    for (const json::value& word : holder["args"].get_array()) args.push_back(word);
  }
  holder[command_key(entry.shape)] = front.program;
  holder["args"] = std::move(args);
  return value;
}

json::object unwrapped_value(const EntryText& entry, const Undo& undo) {
  json::object value = entry.value;
  json::object& holder = holder_of(value, entry.shape);
  const bool list = entry.shape == Shape::List;
  const json::array all = holder[list ? "command" : "args"].get_array();
  const auto rest = static_cast<std::ptrdiff_t>(std::min(undo.words + 1, all.size()));
  json::array left(all.begin() + rest, all.end());
  if (list) {
    holder["command"] = std::move(left);
    return value;
  }
  holder[command_key(entry.shape)] = all[undo.words];
  if (undo.arguments == Arguments::List) holder["args"] = std::move(left);
  if (undo.arguments == Arguments::Null) holder["args"] = nullptr;
  if (undo.arguments == Arguments::Absent) holder.erase("args");
  return value;
}

Result<void> check_change(const json::value& before, const std::vector<Expected>& expected,
                          const std::string& text, ConfigFormat format) {
  json::value wanted = before;
  for (const Expected& one : expected) {
    json::value* const value = value_at(wanted, one.keys);
    if (value == nullptr) return Error{"an entry was not found again, so the file was left alone"};
    *value = one.value;
  }
  const known::ConfigText after = known::parse_config(text, format);
  if (after.error.empty() && after.value == wanted) return {};
  return Error{"the changed file would not be what is intended" +
               (after.error.empty() ? "" : " (" + after.error + ")") + ", so it was left alone"};
}

}  // namespace corral::adopt
