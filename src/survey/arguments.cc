#include "survey/arguments.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace corral::survey {
namespace {

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

bool is_plain(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || is_digit(letter) ||
         letter == '-' || letter == '_' || letter == ':';
}

bool is_option(std::string_view argument) { return argument.starts_with('-'); }

/// A word that may name a job. A number is a port or a count.
bool is_word(std::string_view argument) {
  if (argument.empty() || is_option(argument) || is_digit(argument.front())) return false;
  return std::all_of(argument.begin(), argument.end(), is_plain);
}

/// Options at the beginning are left out, with words that can only be their values. A word after an option
/// may be its value or the job. It counts as the job: to mistake two jobs for one would end an innocent
/// process.
std::vector<std::string_view> job_of(const std::vector<std::string>& arguments) {
  auto at = arguments.begin();
  while (at != arguments.end() && is_option(*at)) {
    ++at;
    if (at != arguments.end() && !is_option(*at) && !is_word(*at)) ++at;
  }
  return {at, std::find_if_not(at, arguments.end(), is_word)};
}

std::string lowered(std::string_view text) {
  std::string lower(text);
  for (char& letter : lower) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return lower;
}

/// Options by which one program is a server of this protocol or of that, without their values, in order.
std::vector<std::string> protocols_of(const std::vector<std::string>& arguments) {
  constexpr std::array<std::string_view, 4> kProtocols = {"mcp", "lsp", "language-server", "dap"};
  std::vector<std::string> options;
  for (const std::string& argument : arguments) {
    if (!is_option(argument)) continue;
    const std::string name = lowered(argument).substr(0, argument.find('='));
    const bool names_one = std::any_of(kProtocols.begin(), kProtocols.end(), [&](std::string_view protocol) {
      return name.find(protocol) != std::string::npos;
    });
    if (names_one) options.push_back(name);
  }
  std::sort(options.begin(), options.end());
  return options;
}

}  // namespace

Arguments compare_arguments(const std::vector<std::string>& configured,
                            const std::vector<std::string>& running) {
  if (configured == running) return Arguments::Same;
  const bool same_job =
      job_of(configured) == job_of(running) && protocols_of(configured) == protocols_of(running);
  return same_job ? Arguments::Alike : Arguments::Other;
}

}  // namespace corral::survey
