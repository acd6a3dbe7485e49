#include "config/credentials.h"

#include <algorithm>
#include <boost/json.hpp>
#include <string_view>

#include "base/secrets.h"
#include "base/text.h"
#include "config/entry.h"

namespace corral::config {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostNamed = 20;
constexpr std::size_t kLongestName = 100;

std::string name_for_people(std::string_view name) { return printable(name.substr(0, kLongestName)); }

/// --api-key and X-Api-Key become API_KEY and X_API_KEY.
std::string variable_for(std::string_view name) {
  std::string variable;
  for (const char letter : name.substr(0, kLongestName)) {
    const bool small = letter >= 'a' && letter <= 'z';
    const bool kept = small || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9');
    if (kept) variable += small ? static_cast<char>(letter - 'a' + 'A') : letter;
    if (!kept && !variable.empty() && variable.back() != '_') variable += '_';
  }
  while (variable.ends_with('_')) variable.pop_back();
  const bool valid = !variable.empty() && (variable.front() < '0' || variable.front() > '9');
  return valid ? variable : "TOKEN";
}

bool has_reference(std::string_view value) { return value.find("${") != std::string_view::npos; }

/// Whether the value itself is the credential, and not only a variable that has it.
bool is_plain(std::string_view name, std::string_view value) {
  if (value.empty() || has_reference(value)) return false;
  return names_secret(name) || looks_secret(value);
}

class CredentialSearch {
 public:
  explicit CredentialSearch(const json::object& entry) : entry_(entry) {}

  std::vector<PlainCredential> all() {
    for (const char* const key : {"env", "environment"}) named_values(key, "");
    arguments();
    for (const char* const key : {"headers", "http_headers"}) named_values(key, "header ");
    for (const std::string_view key : kAddressKeys) address(key);
    return std::move(found_);
  }

 private:
  void add(const std::string& place, std::string_view name) {
    if (found_.size() < kMostNamed) found_.push_back({place, variable_for(name)});
  }

  void named_values(std::string_view key, const char* kind) {
    const json::value* const given = entry_.if_contains(key);
    if (given == nullptr || !given->is_object()) return;
    for (const auto& [name, value] : given->get_object()) {
      if (value.is_string() && is_plain(name, value.get_string())) add(kind + name_for_people(name), name);
    }
  }

  void arguments() {
    std::string_view before;
    for (const char* const key : {"command", "args"}) {
      const json::value* const given = entry_.if_contains(key);
      if (given == nullptr || !given->is_array()) continue;
      for (const json::value& word : given->get_array()) {
        const std::string_view text = word.is_string() ? std::string_view(word.get_string()) : "";
        argument(before, text);
        before = text;
      }
    }
  }

  /// `--token X`, `--token=X`, `NAME=X`, `Authorization: X`, or a word that is a key by its form.
  void argument(std::string_view before, std::string_view word) {
    if (word.empty() || has_reference(word)) return;
    const std::size_t sign = word.find_first_of("=:");
    const std::string_view name = word.substr(0, sign);
    const bool assigns = sign != std::string_view::npos && sign + 1 < word.size() &&
                         name.find_first_of(" /") == std::string_view::npos;
    if (assigns && is_plain(name, word.substr(sign + 1))) {
      add(name_for_people(name) + " in the arguments", name);
    } else if (before.starts_with("-") && before.find('=') == std::string_view::npos &&
               !word.starts_with("-") && names_secret(before)) {
      add("the argument after " + name_for_people(before), before);
    } else if (looks_secret(word)) {
      add("an argument", "TOKEN");
    }
  }

  void address(std::string_view key) {
    const json::value* const given = entry_.if_contains(key);
    if (given == nullptr || !given->is_string()) return;
    const std::string_view url = given->get_string();
    if (has_reference(url)) return;
    const bool hidden = show_command({std::string(url)}).find("***") != std::string::npos;
    if (hidden || looks_secret(url)) add("the URL", "TOKEN");
  }

  const json::object& entry_;
  std::vector<PlainCredential> found_;
};

}  // namespace

std::vector<PlainCredential> plain_credentials(const json::object& entry) {
  return CredentialSearch(entry).all();
}

}  // namespace corral::config
