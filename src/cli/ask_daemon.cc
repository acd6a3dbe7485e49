#include "cli/ask_daemon.h"

#include <boost/json/parse.hpp>
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
    return {std::nullopt, nullptr, kNoDaemonRuns};
  }
  if (!channel) return {std::nullopt, nullptr, fail(command, channel.error().message)};
  Result<std::string> result = app::ask_for_result(*channel, std::move(hello), kAnswerPatience);
  if (!result) return {std::nullopt, nullptr, fail(command, result.error().message)};
  boost::system::error_code error;
  boost::json::value value = boost::json::parse(*result, error);
  if (error) {
    return {std::nullopt, nullptr,
            fail(command, "the daemon's answer is no JSON (" + error.message() +
                              "): it is of another version; `corral serve --replace` starts this one")};
  }
  return {std::move(*result), std::move(value), 0};
}

}  // namespace corral::cli
