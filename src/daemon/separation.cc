#include "daemon/separation.h"

#include <algorithm>

#include "base/words.h"
#include "knowledge/notice.h"
#include "wire/json_text.h"

namespace corral::daemon {
namespace {

using Words = std::vector<std::string>;

// With more than these the difference is not small, and a line of them would not help.
constexpr std::size_t kMostInHint = 8;

/// The complete list for the entry, or for every window that starts the command.
Words ignored_by_both(const pool::ServerSpec& one, const pool::ServerSpec& other, const Words& more) {
  Words words = one.entry.ignore;
  for (const Words* const list : {&other.entry.ignore, &more}) {
    for (const std::string& word : *list) {
      if (!contains(words, word)) words.push_back(word);
    }
  }
  return words;
}

/// "--ignore cwd --ignore PATH "
std::string options_to_ignore(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += "--ignore " + word + " ";
  return text;
}

/// "ignore": ["cwd", "PATH"]
std::string member_to_ignore(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + wire::quoted(word);
  return R"("ignore": [)" + text + "]";
}

std::string how_to_ignore(const pool::ServerSpec& spec, const Words& words) {
  if (!spec.from_configuration) {
    return "to share it: corral connect " + options_to_ignore(words) + "-- COMMAND";
  }
  return R"(to share it: "corral": {)" + member_to_ignore(words) + "} in the entry " +
         wire::quoted(spec.server);
}

std::string hint_for(const pool::ServerSpec& one, const pool::ServerSpec& other,
                     const std::vector<knowledge::Difference>& found) {
  Words words;
  for (const knowledge::Difference& difference : found) {
    if (difference.is_directory && one.entry.cwd.empty() && one.root.empty() && difference.ignore.empty()) {
      return "its command line refers to the directory: with absolute paths it could be shared";
    }
    if (difference.ignore.empty()) return {};
    words.push_back(difference.ignore);
  }
  if (words.size() <= kMostInHint) return how_to_ignore(one, ignored_by_both(one, other, words));
  if (one.from_configuration) return {};
  return "to share it: `corral add` an entry for it; a configured server gets only the variables of its "
         "entry "
         "and a few common ones";
}

}  // namespace

Separation separation_of(const pool::ServerSpec& one, const pool::ServerSpec& other) {
  Separation result;
  if (one.key == other.key) return result;
  const std::vector<knowledge::Difference> found =
      knowledge::differences({one.launch, one.noticed}, {other.launch, other.noticed});
  for (const knowledge::Difference& difference : found) {
    if (result.differs.size() < kMostDifferences) result.differs.push_back(difference.name);
    result.credential = result.credential || difference.credential;
  }
  const bool of_two_tokens = one.principal != other.principal;
  const bool of_two_definitions = one.from_configuration != other.from_configuration ||
                                  (one.from_configuration && one.server != other.server);
  const bool of_two_projects = one.root != other.root && one.launch.directory == other.launch.directory;
  if (of_two_tokens) result.differs.emplace_back("the access token");
  if (of_two_projects) result.differs.emplace_back("the project");
  if (of_two_definitions) result.differs.emplace_back("the entry");
  if (result.credential || of_two_tokens) {
    result.credential = true;
    result.hint = "processes with different credentials are never shared";
  } else if (result.differs.size() == found.size() && !found.empty()) {
    result.hint = hint_for(one, other, found);
  }
  return result;
}

std::string hint_for_both(const std::string& hint, const pool::ServerSpec& one,
                          const pool::ServerSpec& other) {
  Words words;
  for (const auto& difference :
       knowledge::differences({one.launch, one.noticed}, {other.launch, other.noticed})) {
    if (difference.ignore.empty()) return hint;
    words.push_back(difference.ignore);
  }
  if (words.empty() || words.size() > kMostInHint) return hint;
  words = ignored_by_both(one, other, words);
  const std::string_view end = one.from_configuration ? R"("share": "shared")" : "-- COMMAND";
  const std::size_t at = hint.find(end);
  if (at == std::string::npos) return hint;
  std::string text = hint;
  if (one.from_configuration) return text.insert(at + end.size(), ", " + member_to_ignore(words));
  return text.insert(at, options_to_ignore(words));
}

std::string show_separation(const Words& differs, pid_t other) {
  constexpr std::size_t kMostNamed = 5;
  if (differs.empty()) return {};
  std::string text;
  for (std::size_t i = 0; i < std::min(differs.size(), kMostNamed); ++i) {
    const bool last = i + 1 == differs.size();
    text += (i == 0 ? "" : last ? " and " : ", ") + differs[i];
  }
  if (differs.size() > kMostNamed) text += " and " + std::to_string(differs.size() - kMostNamed) + " more";
  const bool plural = differs.size() > 1 || differs[0].ends_with("limits") || differs[0].ends_with("periods");
  return "separate from process " + std::to_string(other) + ": " + text + (plural ? " differ" : " differs");
}

}  // namespace corral::daemon
