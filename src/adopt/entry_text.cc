#include "adopt/entry_text.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>

namespace corral::adopt {
namespace {

namespace json = boost::json;

/// An entry with a command, or with anything else that makes it more than a group of switches.
void collect(const json::value& value, std::string_view rest, EntryText& above,
             std::vector<EntryText>& found) {  // NOLINT(misc-no-recursion): as deep as the row of the table
  const json::object* const object = value.if_object();
  if (object == nullptr) return;
  if (rest.empty()) {
    for (const auto& [name, entry] : *object) {
      if (!entry.is_object()) continue;  // a bare switch
      EntryText one = above;
      one.name = name;
      one.keys.emplace_back(name);
      one.value = entry.get_object();
      found.push_back(std::move(one));
    }
    return;
  }
  const std::string_view key = rest.substr(0, rest.find('/'));
  const std::string_view below = key.size() == rest.size() ? std::string_view() : rest.substr(key.size() + 1);
  for (const auto& [name, inner] : *object) {
    if (key != "*" && key != std::string_view(name)) continue;
    EntryText next = above;
    next.keys.emplace_back(name);
    if (key == "*") next.project = name;
    collect(inner, below, next, found);
  }
}

Shape shape_of(const json::object& entry) {
  const json::value* const command = entry.if_contains("command");
  if (command != nullptr && command->is_array()) return Shape::List;
  return command != nullptr && command->is_object() ? Shape::Object : Shape::Pair;
}

Arguments arguments_of(const json::object& entry) {
  const json::value* const args = command_of(entry).args;
  if (args == nullptr) return Arguments::Absent;
  return args->is_null() ? Arguments::Null : Arguments::List;
}

bool add_words(const json::value& value, std::vector<std::string>& words) {
  if (value.is_string()) {
    words.emplace_back(value.get_string());
  } else if (value.is_number() || value.is_bool()) {
    words.push_back(json::serialize(value));  // as the client would turn it into a string
  } else {
    return false;
  }
  return true;
}

std::uint64_t mixed(std::uint64_t hash, std::string_view text) {
  for (const char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
}

}  // namespace

CommandValues command_of(const json::object& entry) {
  const json::value* const command = entry.if_contains("command");
  const json::object* const object = command == nullptr ? nullptr : command->if_object();
  if (object != nullptr) return {object->if_contains("path"), object->if_contains("args")};
  if (command != nullptr && command->is_array()) return {command, nullptr};
  return {command, entry.if_contains("args")};
}

std::optional<std::vector<std::string>> words_of(const json::object& entry) {
  const auto [command, args] = command_of(entry);
  std::vector<std::string> words;
  if (command == nullptr) return std::nullopt;
  for (const json::value* const part : {command, args}) {
    if (part == nullptr || (part == args && part->is_null())) continue;
    const json::array* const list = part->if_array();
    if (list == nullptr && (part == args || !part->is_string())) return std::nullopt;
    if (list == nullptr) words.emplace_back(part->get_string());
    if (list == nullptr) continue;
    for (const json::value& word : *list) {
      if (!add_words(word, words)) return std::nullopt;
    }
  }
  return words;
}

std::string hash_of(const json::object& entry) {
  const auto [command, args] = command_of(entry);
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const json::value* const part : {command, args}) {
    hash = mixed(hash, part == nullptr ? "absent" : json::serialize(*part));
    hash = mixed(hash, std::string_view("\n", 1));
  }
  std::string digits(16, '0');
  for (std::size_t i = digits.size(); i-- > 0; hash >>= 4U) digits[i] = "0123456789abcdef"[hash & 15U];
  return digits;
}

std::vector<EntryText> find_entries(const ParsedText& parsed, std::string_view servers) {
  std::vector<EntryText> found;
  EntryText root;
  collect(parsed.root, servers, root, found);
  for (EntryText& entry : found) {
    entry.shape = shape_of(entry.value);
    entry.arguments = arguments_of(entry.value);
    entry.refusal = "its text was not found";
  }
  parsed.format == known::ConfigFormat::Json ? locate_json(parsed.text, found)
                                             : locate_toml(parsed.text, found);
  std::stable_sort(found.begin(), found.end(),
                   [](const EntryText& a, const EntryText& b) { return a.line < b.line; });
  return found;
}

}  // namespace corral::adopt
