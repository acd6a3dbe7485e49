// `corral version`, also as `corral --version`: the version and the build date, and with -v everything about
// the build, for people and programs.
#include <unistd.h>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <iostream>
#include <memory>

#include "base/text.h"
#include "cli/commands/build_facts.h"
#include "cli/frame/command.h"
#include "cli/frame/help_page.h"
#include "cli/frame/option_values.h"
#include "cli/screen/json_view.h"
#include "cli/screen/page.h"
#include "control/hello.h"
#include "version.h"

namespace corral::cli {
namespace {

namespace json = boost::json;

constexpr const char* kExamples = R"(Examples:
  corral version
  corral version -v               also compiler, libraries, and what it can do on this machine
  corral version --json | jq -r .version

`corral --version -v` is the same. `corral info` shows the version of the running daemon.)";

/// Every library with its version: "boost 1.81.0, sqlite 3.40.1 (source)".
std::string libraries_of(const json::value& facts) {
  std::string said;
  for (const auto& [name, version] : facts.at("libraries").as_object()) {
    said += (said.empty() ? "" : ", ") + std::string(name) + " " + std::string(version.as_string());
    if (name == "sqlite") said += " (" + text(facts.at("program"), "sqlite") + ")";
  }
  return said;
}

std::string containment_of(const json::value& levels) {
  const bool cgroup = text(levels, "auto") == "cgroup";
  std::string said = cgroup ? "cgroup" : "keeper, because no cgroup can be made here";
  if (cgroup)
    said += flag(levels, "controllers") ? " with limits" : " without limits: its controllers are missing";
  said += flag(levels, "strict") ? "; strict" : "; not strict: " + text(levels, "why_not_strict");
  return said;
}

void show(const json::value& facts) {
  Page page(std::cout, terminal_style(STDOUT_FILENO));
  const json::value& program = facts.at("program");
  const json::value& features = facts.at("features");
  page.paragraph("", version_line());
  page.paragraph("compiler     ", text(facts, "compiler"));
  page.paragraph("program      ",
                 text(program, "linked") +
                     (list(program, "hardening").empty() ? "" : ", " + joined(program, "hardening")));
  page.paragraph("libraries    ", libraries_of(facts));
  page.paragraph("protocol     ", control::served_protocols());
  page.paragraph("MCP          ", joined(features, "revisions"));
  page.paragraph("containment  ", containment_of(features.at("containment")));
}

}  // namespace

Command version_command() {
  auto as_json = std::make_shared<bool>(false);
  auto verbose = std::make_shared<bool>(false);
  Command command;
  command.name = "version";
  command.summary = "Print version and build date.";
  command.usage = "corral version [options]";
  command.examples = kExamples;
  command.options = {{"-v,--verbose", "", "Also the build, its libraries, and what it can do on this machine",
                      set_flag(*verbose)},
                     {"--json", "", "Print JSON: version and build; with -v everything", set_flag(*as_json)}};
  command.run = [as_json, verbose](const std::vector<std::string>& args) {
    const Result<void> none = expect_no_args(args);
    if (!none) return fail("version", none.error().message);
    const json::object facts = *verbose ? build_facts(proc::probe_levels())
                                        : json::object{{"version", kVersion}, {"build", kBuildDate}};
    if (*as_json) {
      std::cout << json::serialize(facts) << '\n';
    } else if (*verbose) {
      show(facts);
    } else {
      std::cout << version_line() << '\n';
    }
    return 0;
  };
  return command;
}

}  // namespace corral::cli
