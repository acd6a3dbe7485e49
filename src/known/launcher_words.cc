#include "known/launcher_words.h"

#include <algorithm>

#include "base/words.h"

namespace corral::known {
namespace {

bool is_assignment(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos || equals == 0 || (word[0] >= '0' && word[0] <= '9')) return false;
  const std::string_view name = word.substr(0, equals);
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

/// How many words the subcommand at `at` has; 0 = there is none.
std::size_t match_subcommand(const KnownLauncher& launcher, const std::vector<std::string>& words,
                             std::size_t at, std::string& found) {
  for (const std::string_view subcommand : launcher.subcommands) {
    const std::size_t blank = subcommand.find(' ');
    const bool two = blank != std::string_view::npos;
    if (words[at] != subcommand.substr(0, blank)) continue;
    if (two && (at + 1 >= words.size() || words[at + 1] != subcommand.substr(blank + 1))) continue;
    found = subcommand;
    return two ? 2 : 1;
  }
  return 0;
}

/// Reads the option at `at`; returns how many words it takes.
std::size_t read_option(const KnownLauncher& launcher, const std::vector<std::string>& words, std::size_t at,
                        Launch& launch) {
  const std::string& word = words[at];
  const std::size_t equals = word.find('=');
  if (equals != std::string::npos) {
    launch.values.emplace_back(word.substr(0, equals), word.substr(equals + 1));
    return 1;
  }
  if (contains(launcher.options_with_value, word) && at + 1 < words.size()) {
    launch.values.emplace_back(word, words[at + 1]);
    return 2;
  }
  launch.flags.push_back(word);
  return 1;
}

/// A shell's words, quotes taken off. `&&` comes as a word of its own; every other operator ends the attempt.
class ShellSplitter {
 public:
  explicit ShellSplitter(std::string_view text) : text_(text) {}

  std::optional<std::vector<std::string>> split() {
    while (at_ < text_.size()) {
      if (!step()) return std::nullopt;
    }
    finish_word();
    return std::move(words_);
  }

 private:
  bool step() {
    const char c = text_[at_];
    if (c == ' ' || c == '\t') {
      finish_word();
      ++at_;
      return true;
    }
    if (text_.substr(at_).starts_with("&&")) {
      finish_word();
      words_.emplace_back("&&");
      at_ += 2;
      return true;
    }
    if (c == '\'' || c == '"') return quoted(c);
    if (c == '\\') return escaped();
    constexpr std::string_view kMeansMore = ";|&<>()$`{}*?[]#~!\n\r";
    if (kMeansMore.find(c) != std::string_view::npos) return false;
    begun_ = true;
    word_.push_back(c);
    ++at_;
    return true;
  }

  bool quoted(char quote) {
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return false;
    const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    if (quote == '"' && inside.find_first_of("$`\\") != std::string_view::npos) return false;
    begun_ = true;
    word_ += inside;
    at_ = end + 1;
    return true;
  }

  bool escaped() {
    if (at_ + 1 >= text_.size() || text_[at_ + 1] == '\n') return false;
    begun_ = true;
    word_.push_back(text_[at_ + 1]);
    at_ += 2;
    return true;
  }

  void finish_word() {
    if (begun_) words_.push_back(std::exchange(word_, {}));
    begun_ = false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool begun_ = false;
  std::string word_;
  std::vector<std::string> words_;
};

}  // namespace

std::string Launch::value_of(std::initializer_list<std::string_view> options) const {
  for (const auto& [option, value] : values) {
    if (contains(options, option)) return value;
  }
  return {};
}

bool Launch::has_flag(std::initializer_list<std::string_view> options) const {
  return std::any_of(flags.begin(), flags.end(),
                     [&](const std::string& flag) { return contains(options, flag); });
}

Launch read_launch(const KnownLauncher& launcher, const std::vector<std::string>& words) {
  Launch launch;
  std::size_t at = 1;
  while (at < words.size()) {
    const std::string& word = words[at];
    if (word == "--") {
      // Before the subcommand it would be a mistake; after it the program follows.
      ++at;
      break;
    }
    if (word.size() > 1 && word.front() == '-') {
      at += read_option(launcher, words, at, launch);
      // `-m module`, `-c text`, `-e text`: what follows is no longer the launcher's.
      if (launcher.kind == LauncherKind::Shell && launch.has_flag({"-c", "-lc", "-ic", "-ec", "-xc"})) break;
      if (launcher.name == "python" && launch.has_flag({"-m", "-c"})) break;
      continue;
    }
    if (launcher.name == "env" && is_assignment(word)) {
      ++at;
      continue;
    }
    const std::size_t taken =
        launch.subcommand.empty() ? match_subcommand(launcher, words, at, launch.subcommand) : 0;
    if (taken == 0) break;
    at += taken;
  }
  launch.program = std::min(at, words.size());
  return launch;
}

std::optional<SimpleCommand> read_simple_command(std::string_view text) {
  std::optional<std::vector<std::string>> words = ShellSplitter(text).split();
  if (!words) return std::nullopt;
  SimpleCommand command;
  auto begin = words->begin();
  if (words->size() > 3 && words->front() == "cd" && (*words)[2] == "&&") {
    command.directory = (*words)[1];
    begin += 3;
  }
  while (begin != words->end() && (*begin == "exec" || is_assignment(*begin))) ++begin;
  command.words.assign(std::make_move_iterator(begin), std::make_move_iterator(words->end()));
  if (command.words.empty() || contains(command.words, "&&")) return std::nullopt;
  return command;
}

}  // namespace corral::known
