#include "cli/ask_daemon.h"

#include <iostream>
#include <utility>

#include "app/requests.h"
#include "cli/command.h"
#include "control/channel.h"

namespace corral::cli {

Asked ask_daemon(const std::string& command, const std::string& runtime_dir, control::Hello hello) {
  Result<control::Channel> channel = control::connect_to_daemon(runtime_dir);
  if (!channel && channel.error().kind == Error::Kind::NotFound) {
    std::cerr << "corral " << command << ": no daemon runs; `corral connect` starts one, or `corral serve`\n";
    return {std::nullopt, kNoDaemonRuns};
  }
  if (!channel) return {std::nullopt, fail(command, channel.error().message)};
  Result<std::string> result = app::ask_for_result(*channel, std::move(hello), kAnswerPatience);
  if (!result) return {std::nullopt, fail(command, result.error().message)};
  return {std::move(*result), 0};
}

}  // namespace corral::cli
