#include "fixture_json.h"

namespace corral::fakes {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

void skip_space(std::string_view& text) {
  const std::size_t at = text.find_first_not_of(kSpace);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at);
}

std::size_t end_of_string(std::string_view text) {
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return text.size();
}

std::size_t end_of_nested(std::string_view text) {
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      at += end_of_string(text.substr(at)) - 1;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return at + 1;
    }
  }
  return text.size();
}

/// Takes one value from the front.
std::string_view take_value(std::string_view& text) {
  skip_space(text);
  std::size_t end = 0;
  if (text.starts_with('"')) {
    end = end_of_string(text);
  } else if (text.starts_with('{') || text.starts_with('[')) {
    end = end_of_nested(text);
  } else {
    end = std::min(text.find_first_of(",}] \t\r\n"), text.size());
  }
  const std::string_view value = text.substr(0, end);
  text.remove_prefix(end);
  return value;
}

/// Takes a comma or colon; false at the end of what holds the values.
bool take_mark(std::string_view& text, char mark) {
  skip_space(text);
  if (!text.starts_with(mark)) return false;
  text.remove_prefix(1);
  return true;
}

std::string_view without_quotes(std::string_view text) {
  return text.size() >= 2 && text.starts_with('"') ? text.substr(1, text.size() - 2) : std::string_view{};
}

}  // namespace

std::vector<std::pair<std::string_view, std::string_view>> members(std::string_view object) {
  std::vector<std::pair<std::string_view, std::string_view>> found;
  if (!take_mark(object, '{')) return found;
  skip_space(object);
  if (object.starts_with('}')) return found;
  do {
    const std::string_view name = take_value(object);
    if (!take_mark(object, ':')) break;
    found.emplace_back(without_quotes(name), take_value(object));
  } while (take_mark(object, ','));
  return found;
}

std::vector<std::string_view> elements(std::string_view array) {
  std::vector<std::string_view> found;
  if (!take_mark(array, '[')) return found;
  skip_space(array);
  if (array.starts_with(']')) return found;
  do {
    found.push_back(take_value(array));
  } while (take_mark(array, ','));
  return found;
}

std::string_view value_at(std::string_view object, std::initializer_list<std::string_view> path) {
  for (const std::string_view name : path) {
    std::string_view value;
    for (const auto& [key, member] : members(object)) {
      if (key == name) value = member;
    }
    object = value;
  }
  return object;
}

std::string_view text_at(std::string_view object, std::initializer_list<std::string_view> path) {
  return without_quotes(value_at(object, path));
}

std::string quoted(std::string_view text) { return '"' + std::string(text) + '"'; }

}  // namespace corral::fakes
