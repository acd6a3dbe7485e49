#include "base/ignored_words.h"

#include "base/secrets.h"

namespace corral {

bool can_name_variable(std::string_view name) {
  return !name.empty() && name.find('=') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

std::string objection_to_ignored(std::string_view word) {
  if (!can_name_variable(word)) return "use cwd, PATH or the name of a variable, without a value";
  if (word.size() > kLongestIgnored) {
    return "the name of a variable may have at most " + std::to_string(kLongestIgnored) + " bytes";
  }
  if (names_secret(word)) {
    return "it looks like the name of a credential, and sessions with different credentials never share a "
           "process";
  }
  return {};
}

std::string objection_to_ignored(const std::vector<std::string>& words) {
  if (words.size() > kMostIgnored) return "at most " + std::to_string(kMostIgnored) + " words are allowed";
  for (const std::string& word : words) {
    if (std::string objection = objection_to_ignored(word); !objection.empty()) return objection;
  }
  return {};
}

}  // namespace corral
