#include "base/text.h"

#include <algorithm>
#include <array>
#include <optional>

namespace corral {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

struct CodePoint {
  std::uint32_t value;
  std::size_t length;  // in bytes
};

bool is_plain_ascii(char c) { return c >= ' ' && c <= '~'; }

bool is_white_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// The code point at the start of the text. Empty for an overlong form, a surrogate, a value beyond Unicode,
/// and every other sequence that is not UTF-8.
std::optional<CodePoint> decode(std::string_view text) {
  const auto byte = [&text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return CodePoint{byte(0), 1};
  const std::size_t length = byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
  if (byte(0) < 0xC2 || byte(0) > 0xF4 || text.size() < length) return std::nullopt;
  std::uint32_t value = byte(0) & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return std::nullopt;
    value = (value << 6U) | (byte(i) & 0x3FU);
  }
  constexpr std::array<std::uint32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kSmallest[length] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
    return std::nullopt;
  return CodePoint{value, length};
}

/// Control characters, and characters that make a line look different from what it is.
bool misleads(std::uint32_t c) {
  if (c < 0x20 || (c >= 0x7F && c < 0xA0)) return true;
  if (c == 0x061C || (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E)) return true;
  return (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF || (c >= 0xFFF9 && c <= 0xFFFB) ||
         (c >= 0xE0000 && c <= 0xE007F);
}

bool is_layout(std::uint32_t c) { return c == '\n' || c == '\t'; }
bool is_joiner(std::uint32_t c) { return c == 0x200C || c == 0x200D; }

/// Copies `text`. `replace(point, bytes)` returns what is shown for a code point that is not plain ASCII;
/// `point` is empty for one byte that is not UTF-8.
template <class Replace>
std::string replaced(std::string_view text, const Replace& replace) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    // Most text is plain, and a server may write megabytes of it.
    const auto plain_end = std::find_if_not(text.begin(), text.end(), is_plain_ascii);
    shown.append(text.begin(), plain_end);
    text.remove_prefix(static_cast<std::size_t>(plain_end - text.begin()));
    if (text.empty()) break;
    const std::optional<CodePoint> point = decode(text);
    const std::size_t length = point ? point->length : 1;
    shown += replace(point, text.substr(0, length));
    text.remove_prefix(length);
  }
  return shown;
}

/// \uXXXX, or two of them for a code point beyond the first plane.
std::string escaped(std::uint32_t point) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (point > 0xFFFF) {
    const std::uint32_t rest = point - 0x10000;
    return escaped(0xD800 + (rest >> 10U)) + escaped(0xDC00 + (rest & 0x3FFU));
  }
  std::string text = "\\u";
  for (const unsigned shift : {12U, 8U, 4U, 0U}) text += kDigits[(point >> shift) & 15U];
  return text;
}

}  // namespace

std::string printable(std::string_view text) {
  return replaced(text, [](std::optional<CodePoint> point, std::string_view bytes) {
    return point && !misleads(point->value) ? bytes : kReplacement;
  });
}

std::string printable_text(std::string_view text) {
  return replaced(text, [](std::optional<CodePoint> point, std::string_view bytes) {
    const bool kept =
        point && (!misleads(point->value) || is_layout(point->value) || is_joiner(point->value));
    return kept ? bytes : kReplacement;
  });
}

std::string printable_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (!is_white_space(c)) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  if (!line.empty() && line.back() == ' ') line.pop_back();
  return printable(line);
}

std::string printable_json(std::string_view json) {
  return replaced(json, [](std::optional<CodePoint> point, std::string_view bytes) {
    constexpr std::uint32_t kReplacementPoint = 0xFFFD;
    if (!point) return escaped(kReplacementPoint);
    return misleads(point->value) ? escaped(point->value) : std::string(bytes);
  });
}

std::string shell_word(const std::string& word) {
  constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./-_";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char letter : word) text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return text + "'";
}

std::string counted(std::uint64_t number, const std::string& noun) {
  return counted(number, noun, noun + "s");
}

std::string counted(std::uint64_t number, const std::string& one, const std::string& many) {
  return std::to_string(number) + " " + (number == 1 ? one : many);
}

std::string variable(const std::vector<std::string>& environment, const std::string& name) {
  for (const std::string& one : environment) {
    if (one.size() > name.size() && one[name.size()] == '=' && one.starts_with(name)) {
      return one.substr(name.size() + 1);
    }
  }
  return {};
}

std::string as_sentence(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') text.front() -= 'a' - 'A';
  if (!text.empty() && text.back() != '.') text += '.';
  return text;
}

}  // namespace corral
