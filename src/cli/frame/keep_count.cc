#include "cli/frame/keep_count.h"

#include "base/keep_limit.h"
#include "serve/config_source.h"

namespace corral::cli {

Result<std::size_t> keep_count(const std::optional<std::size_t>& given) {
  if (given) return *given;
  const Result<std::size_t> from_environment = keep_from_environment();
  if (!from_environment) return from_environment.error();
  const Result<config::Configuration> configuration = serve::ConfigSource("").read();
  return keep_in_use(configuration ? configuration->options.keep : *from_environment);
}

}  // namespace corral::cli
