#include "base/keep_limit.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/text.h"

namespace corral {

Result<std::size_t> keep_from_environment() {
  const char* const text = getenv("MAX_KEEP_PROCESSES");
  if (text == nullptr || *text == '\0') return kDefaultKeep;
  const std::string_view value(text);
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc{} || end != value.data() + value.size()) {
    return Error{"MAX_KEEP_PROCESSES is '" + printable(value) +
                 "', which is not a number: set it to a whole number such as 9"};
  }
  return number;
}

std::size_t keep_from_environment_or_default() {
  const Result<std::size_t> keep = keep_from_environment();
  return keep ? *keep : kDefaultKeep;
}

std::size_t keep_in_use(std::size_t configured) { return std::max<std::size_t>(configured, 1); }

}  // namespace corral
