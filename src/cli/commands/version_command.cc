// `corral version`: the version and the build date, for people and programs.
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <iostream>
#include <memory>

#include "cli/frame/command.h"
#include "cli/frame/help_page.h"
#include "cli/frame/option_values.h"
#include "version.h"

namespace corral::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  corral version
  corral version --json | jq -r .version

`corral info` shows the version of the running daemon.)";

}  // namespace

Command version_command() {
  auto json = std::make_shared<bool>(false);
  Command command;
  command.name = "version";
  command.summary = "Print version and build date.";
  command.usage = "corral version [options]";
  command.examples = kExamples;
  command.options = {{"--json", "", "Print JSON: version and build", set_flag(*json)}};
  command.run = [json](const std::vector<std::string>& args) {
    const Result<void> none = expect_no_args(args);
    if (!none) return fail("version", none.error().message);
    if (*json) {
      std::cout << boost::json::serialize(boost::json::object{{"version", kVersion}, {"build", kBuildDate}})
                << '\n';
    } else {
      std::cout << version_line() << '\n';
    }
    return 0;
  };
  return command;
}

}  // namespace corral::cli
