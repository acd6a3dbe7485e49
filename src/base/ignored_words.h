// What a user may declare to make no difference to a server: the words of the option "ignore" of an entry and
// of `corral connect --ignore`. The configuration, the command line and the daemon apply the same rules,
// because a program at the daemon's socket may send any words. Pure; any thread may call.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace corral {

/// The two words that are not just names of variables: the directory in which the server starts, and PATH,
/// which is replaced by the programs that it finds.
inline constexpr std::string_view kIgnoreDirectory = "cwd";
inline constexpr std::string_view kIgnorePath = "PATH";

inline constexpr std::size_t kMostIgnored = 64;      // words of one command
inline constexpr std::size_t kLongestIgnored = 256;  // bytes of one word

/// Whether a program could have a variable of this name.
bool can_name_variable(std::string_view name);

/// Why a user may not declare this word; empty if it is valid. Never contains the word itself.
std::string objection_to_ignored(std::string_view word);
/// The same for all words of one command.
std::string objection_to_ignored(const std::vector<std::string>& words);

}  // namespace corral
