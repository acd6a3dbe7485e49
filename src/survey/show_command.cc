#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "base/words.h"
#include "survey/server_command.h"

namespace corral::survey {
namespace {

constexpr std::string_view kHidden = "***";
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::size_t kLongestLine = 4096;                 // a command line may have megabytes

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_plain_ascii(char c) { return c >= ' ' && c <= '~'; }
bool is_name(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '-'; }
bool is_token(char c) { return is_name(c) || c == '.' || c == '+'; }
// Parts of a name ("api" and "key" of --api-key, X_API_KEY and apiKey) that make its value a secret.
constexpr std::array<std::string_view, 21> kSecretParts = {
    "token",  "tokens",     "secret",      "secrets", "password", "passwd", "passphrase",
    "pass",   "pwd",        "apikey",      "key",     "keys",     "auth",   "authorization",
    "bearer", "credential", "credentials", "pat",     "cookie",   "jwt",    "dsn"};
// What a name ends with when its value is only about a secret.
constexpr std::array<std::string_view, 7> kHarmlessEndings = {"file", "path", "dir", "name",
                                                              "type", "id",   "env"};
// How the keys of well-known services begin.
constexpr std::array<std::string_view, 28> kSecretBeginnings = {
    "sk-",    "sk_",   "rk_live", "pk_live", "ghp_",  "gho_",    "ghu_", "ghs_", "ghr_",  "github_pat_",
    "glpat-", "xoxb-", "xoxp-",   "xoxa-",   "xapp-", "AKIA",    "ASIA", "AIza", "ya29.", "eyJ",
    "hf_",    "npm_",  "dop_v1_", "lin_api", "ntn_",  "secret_", "SG.",  "pypi-"};

}  // namespace

bool names_secret(std::string_view name) {
  bool secret = false;
  std::string part;
  std::string last;
  const auto finish = [&] {
    if (part.empty()) return;
    secret = secret || contains(kSecretParts, part);
    last = std::exchange(part, {});
  };
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool hump = i > 0 && lower(name[i]) != name[i] && lower(name[i - 1]) == name[i - 1];
    if (hump || name[i] == '-' || name[i] == '_') finish();
    if (name[i] != '-' && name[i] != '_') part.push_back(lower(name[i]));
  }
  finish();
  return secret && !contains(kHarmlessEndings, last);
}

namespace {

/// A variable in the style of an environment: its value is nobody's business, whatever it is called.
bool is_variable_name(std::string_view name) {
  return !name.empty() && !is_digit(name.front()) && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
  });
}

/// A long run of letters and digits mixed: nobody types that.
bool is_opaque(std::string_view token) {
  std::size_t letters = 0;
  std::size_t digits = 0;
  for (const char c : token) {
    letters += is_letter(c) ? 1 : 0;
    digits += is_digit(c) ? 1 : 0;
    if (!is_letter(c) && !is_digit(c)) letters = digits = 0;
    if (letters + digits >= 24 && letters >= 3 && digits >= 3) return true;
  }
  return false;
}

bool is_secret_token(std::string_view token, bool whole_word) {
  for (const std::string_view beginning : kSecretBeginnings) {
    if (token.starts_with(beginning) && token.size() >= beginning.size() + 8) return true;
  }
  return whole_word && is_opaque(token);
}

/// scheme://user:password@host
std::string hide_url_password(std::string word) {
  const std::size_t scheme = word.find("://");
  if (scheme == std::string::npos) return word;
  const std::size_t begin = scheme + 3;
  const std::size_t end = std::min(word.find_first_of("/?#", begin), word.size());
  const std::size_t at = word.rfind('@', end);
  if (at == std::string::npos || at < begin || at >= end) return word;
  const std::size_t colon = word.find(':', begin);
  const bool has_password = colon != std::string::npos && colon < at;
  word.replace(has_password ? colon + 1 : begin, at - (has_password ? colon + 1 : begin), kHidden);
  return word;
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }
bool is_quote(char c) { return c == '"' || c == '\''; }

/// Where a value ends that begins at `at`: at its quote, or where the text around it says so.
std::size_t end_of_value(const std::string& text, std::size_t at, char before_name) {
  if (at == 0 || !is_quote(text[at - 1])) {
    const bool in_query = before_name == '?' || before_name == '&';
    return std::min(text.find_first_of(in_query ? " \t\n&#" : " \t\n", at), text.size());
  }
  const char quote = text[at - 1];
  while (at < text.size() && text[at] != quote)
    at += text[at] == '\\' ? 2 : 1;  // what is escaped does not end it
  return std::min(at, text.size());
}

/// NAME=value, NAME:value, "name": "value", ?name=value& anywhere in a text; what names a secret may stand
/// apart from its sign, as in "name" : "value".
std::string hide_named_values(const std::string& text) {
  std::string shown;
  std::size_t i = 0;
  while (i < text.size()) {
    std::size_t end = i;
    while (end < text.size() && is_name(text[end])) ++end;
    const std::string_view name = std::string_view(text).substr(i, end - i);
    const char before = i == 0 ? ' ' : text[i - 1];
    std::size_t value = end;
    while (value < text.size() && is_quote(text[value])) ++value;
    const bool secret = names_secret(name);
    const std::size_t named = value;
    while (secret && value < text.size() && is_blank(text[value])) ++value;
    const bool apart = value > named;
    const bool assigns = !name.empty() && value < text.size() && (text[value] == '=' || text[value] == ':') &&
                         std::string_view(text).substr(value, 3) != "://";
    const bool variable = (is_blank(before) || is_quote(before)) && is_variable_name(name);
    if (!assigns || (!variable && !secret)) {
      end = std::max(end, i + 1);
      shown.append(text, i, end - i);
      i = end;
      continue;
    }
    ++value;
    const std::size_t first = std::min(text.find_first_not_of(" \t\n", value), text.size());
    const bool in_quotes = first < text.size() && is_quote(text[first]);
    if (in_quotes || apart) value = first + (in_quotes ? 1 : 0);
    shown.append(text, i, value - i);
    i = end_of_value(text, value, before);
    if (i > value) shown += kHidden;
  }
  return shown;
}

std::string hide_tokens(const std::string& word) {
  std::string shown;
  for (std::size_t i = 0; i < word.size();) {
    std::size_t end = i;
    while (end < word.size() && is_token(word[end])) ++end;
    const std::string_view token = std::string_view(word).substr(i, end - i);
    const bool whole = i == 0 && end == word.size();
    const bool value = i > 0 && (word[i - 1] == '=' || word[i - 1] == ':') && end == word.size();
    if (!token.empty() && is_secret_token(token, whole || value)) {
      shown += kHidden;
    } else {
      shown += token;
    }
    if (end < word.size()) shown.push_back(word[end++]);
    i = end;
  }
  return shown;
}

/// Hides in one word after the other; a word can make the next one a secret.
class Veil {
 public:
  std::string over(const std::string& word) {
    if (word.find_first_of(" \t\n") != std::string::npos && !hide_next_) return over_sentence(word);
    if (std::exchange(hide_next_, false) && !word.starts_with("--")) return std::string(kHidden);
    hide_next_ = announces(word);
    return hide_tokens(hide_named_values(hide_url_password(word)));
  }

 private:
  static bool announces(std::string_view word) {
    if (word == "Bearer" || word == "Basic" || word == "bearer") return true;
    if (!word.starts_with("-") || word.find('=') != std::string_view::npos) return false;
    word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
    return word.size() > 1 && names_secret(word);
  }

  /// A whole command in one word (`sh -c …`), or a header: "Authorization: Bearer x".
  static std::string over_sentence(const std::string& given) {
    const std::string sentence = hide_named_values(given);
    Veil inner;
    std::string shown;
    for (std::size_t i = 0; i < sentence.size();) {
      const std::size_t end = std::min(sentence.find_first_of(" \t\n", i), sentence.size());
      const std::string word = sentence.substr(i, end - i);
      if (!word.empty()) shown += inner.over(word);
      if (word.size() > 1 && word.back() == ':' &&
          names_secret(std::string_view(word).substr(0, word.size() - 1))) {
        return shown + " " + std::string(kHidden);  // the value of a header is everything that follows
      }
      if (end < sentence.size()) shown.push_back(sentence[end]);
      i = end + 1;
    }
    return shown;
  }

  bool hide_next_ = false;
};

std::string quoted(const std::string& word) {
  if (!word.empty() && word.find_first_of(" \t\n'\"\\$`;&|<>()?[]{}#~!") == std::string::npos) return word;
  std::string shown = "'";
  for (const char c : word) shown += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return shown + "'";
}

struct CodePoint {
  std::uint32_t value;
  std::size_t length;
};

/// The code point at the start of the text, if it is one: no overlong form, no surrogate, nothing beyond
/// Unicode.
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

/// Control characters, and those that make a line read differently from what it is.
bool misleads(std::uint32_t c) {
  if (c < 0x20 || (c >= 0x7F && c < 0xA0)) return true;
  if (c == 0x061C || (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E)) return true;
  return (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF || (c >= 0xFFF9 && c <= 0xFFFB) ||
         (c >= 0xE0000 && c <= 0xE007F);
}

}  // namespace

std::string printable(const std::string& text) {
  std::string safe;
  safe.reserve(text.size());
  for (std::string_view rest = text; !rest.empty();) {
    // Most text is nothing else, and a server may write megabytes of it.
    const auto plain_end = std::find_if_not(rest.begin(), rest.end(), is_plain_ascii);
    safe.append(rest.begin(), plain_end);
    rest.remove_prefix(static_cast<std::size_t>(plain_end - rest.begin()));
    if (rest.empty()) break;
    const std::optional<CodePoint> point = decode(rest);
    const std::size_t length = point ? point->length : 1;
    safe += point && !misleads(point->value) ? rest.substr(0, length) : kReplacement;
    rest.remove_prefix(length);
  }
  return safe;
}

std::string show_command(const std::vector<std::string>& argv) {
  // A program that gave its process a title has it in the first word, and empty ones up to the old length.
  std::size_t count = argv.size();
  while (count > 1 && argv[count - 1].empty()) --count;
  const bool title = count == 1;

  Veil veil;
  std::string line;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& word = argv[i];
    if (i > 0) line.push_back(' ');
    // A word that is too long is cut before anything else looks at it; the cut part is not shown.
    const bool cut = word.size() > kLongestLine;
    const std::string hidden = veil.over(cut ? word.substr(0, kLongestLine) : word);
    line += printable(title ? hidden : quoted(hidden)) + (cut ? "…" : "");
    if (line.size() > kLongestLine) return line + " …";
  }
  return line;
}

std::string shell_word(const std::string& word) {
  constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./-_";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char letter : word) text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return text + "'";
}

}  // namespace corral::survey
