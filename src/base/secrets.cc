#include "base/secrets.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "base/text.h"
#include "base/words.h"

namespace corral {
namespace {

constexpr std::string_view kHidden = "***";
constexpr std::size_t kLongestLine = 4096;  // a command line may have megabytes

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '-'; }
bool is_token(char c) { return is_name(c) || c == '.' || c == '+'; }
// Parts of a name ("api" and "key" of --api-key, X_API_KEY and apiKey) that make its value a secret.
constexpr std::array<std::string_view, 21> kSecretParts = {
    "token",  "tokens",     "secret",      "secrets", "password", "passwd", "passphrase",
    "pass",   "pwd",        "apikey",      "key",     "keys",     "auth",   "authorization",
    "bearer", "credential", "credentials", "pat",     "cookie",   "jwt",    "dsn"};
// Endings of names whose value only says where a secret is, or of what kind.
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

/// A name in the style of an environment variable. Its value is always hidden.
bool is_variable_name(std::string_view name) {
  return !name.empty() && !is_digit(name.front()) && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
  });
}

/// A long run of mixed letters and digits: no person types that, so it is a key or a token.
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

bool begins_like_secret(std::string_view token) {
  for (const std::string_view beginning : kSecretBeginnings) {
    if (token.starts_with(beginning) && token.size() >= beginning.size() + 8) return true;
  }
  return false;
}

/// scheme://user:password@host, as often as it is in the word
std::string hide_url_password(std::string word) {
  std::size_t scheme = 0;
  while ((scheme = word.find("://", scheme)) != std::string::npos) {
    const std::size_t begin = scheme += 3;
    const std::size_t end = std::min(word.find_first_of("/?#", begin), word.size());
    const std::size_t sign = std::string_view(word).substr(begin, end - begin).rfind('@');
    if (sign == std::string::npos) continue;
    const std::size_t at = begin + sign;
    const std::size_t colon = word.find(':', begin);
    const bool has_password = colon != std::string::npos && colon < at;
    word.replace(has_password ? colon + 1 : begin, at - (has_password ? colon + 1 : begin), kHidden);
  }
  return word;
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }
bool is_quote(char c) { return c == '"' || c == '\''; }

/// Where the value that begins at `at` ends: at the quote, or at the separator of the text around it.
std::size_t end_of_value(const std::string& text, std::size_t at, char before_name) {
  if (at == 0 || !is_quote(text[at - 1])) {
    const bool in_query = before_name == '?' || before_name == '&';
    return std::min(text.find_first_of(in_query ? " \t\n&#" : " \t\n", at), text.size());
  }
  const char quote = text[at - 1];
  while (at < text.size() && text[at] != quote)
    at += text[at] == '\\' ? 2 : 1;  // an escaped quote does not end it
  return std::min(at, text.size());
}

/// NAME=value, NAME:value, "name": "value", ?name=value& anywhere in a text. Spaces may separate the name of
/// a secret from its sign, as in "name" : "value".
std::string hide_named_values(const std::string& text) {
  std::string shown;
  std::size_t i = 0;
  while (i < text.size()) {
    std::size_t end = i;
    while (end < text.size() && is_name(text[end])) ++end;
    const std::string_view name = std::string_view(text).substr(i, end - i);
    const char before = i == 0 ? ' ' : text[i - 1];
    std::size_t value = end;
    // JSON inside of JSON has \" for a quote.
    while (value < text.size() && (is_quote(text[value]) || text[value] == '\\')) ++value;
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
    if (begins_like_secret(token) || ((whole || value) && is_opaque(token))) {
      shown += kHidden;
    } else {
      shown += token;
    }
    if (end < word.size()) shown.push_back(word[end++]);
    i = end;
  }
  return shown;
}

/// Hides secrets word by word, because one word (`--token`) can make the next one a secret.
class Masking {
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

  /// "Authorization:", also behind a bracket or a quote, and with escaped quotes as in JSON inside of JSON.
  static bool is_header_name(std::string_view word) {
    if (!word.ends_with(':')) return false;
    word.remove_suffix(1);
    if (word.ends_with("\\\"")) word.remove_suffix(2);
    std::size_t begin = word.size();
    while (begin > 0 && is_name(word[begin - 1])) --begin;
    const bool after_sign = begin == 0 || std::string_view("([{<,;=\"'").find(word[begin - 1]) != word.npos;
    return after_sign && names_secret(word.substr(begin));
  }

  /// A whole command in one word (`sh -c …`), or a header: "Authorization: Bearer x".
  static std::string over_sentence(const std::string& given) {
    const std::string sentence = hide_named_values(given);
    Masking inner;
    std::string shown;
    for (std::size_t i = 0; i < sentence.size();) {
      const std::size_t end = std::min(sentence.find_first_of(" \t\n", i), sentence.size());
      const std::string word = sentence.substr(i, end - i);
      if (!word.empty()) shown += inner.over(word);
      if (is_header_name(word)) {
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

}  // namespace

bool looks_secret(std::string_view value) {
  const std::string text(value);
  return begins_like_secret(value) || is_opaque(value) || hide_url_password(text) != text;
}

std::vector<std::string> hide_secrets(const std::vector<std::string>& argv) {
  Masking masking;
  std::vector<std::string> shown;
  for (const std::string& word : argv) {
    const bool cut = word.size() > kLongestLine;
    shown.push_back(printable(masking.over(cut ? word.substr(0, kLongestLine) : word)) + (cut ? "…" : ""));
  }
  return shown;
}

std::string show_command(const std::vector<std::string>& argv) {
  // A program that set a process title has it in the first word, and empty words up to the old length.
  std::size_t count = argv.size();
  while (count > 1 && argv[count - 1].empty()) --count;
  const bool title = count == 1;

  Masking masking;
  std::string line;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& word = argv[i];
    if (i > 0) line.push_back(' ');
    // A word that is too long is cut first, so that the time for the rules is bounded.
    const bool cut = word.size() > kLongestLine;
    const std::string hidden = masking.over(cut ? word.substr(0, kLongestLine) : word);
    line += printable(title ? hidden : quoted(hidden)) + (cut ? "…" : "");
    if (line.size() > kLongestLine) return line + " …";
  }
  return line;
}

}  // namespace corral
