#include "adversary_options.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace corral::fakes {
namespace {

bool take_value(std::string_view argument, std::string_view name, std::string& value) {
  if (!argument.starts_with(name)) return false;
  value = argument.substr(name.size());
  return true;
}

}  // namespace

AdversaryOptions parse_adversary_options(int argc, char** argv) {
  AdversaryOptions options;
  options.program = argv[0];
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    std::string value;
    if (take_value(argument, "--tag=", options.tag)) continue;
    if (take_value(argument, "--alive-lock=", options.alive_lock)) continue;
    if (take_value(argument, "--setuid-program=", options.setuid_program)) continue;
    if (take_value(argument, "--grow=", value)) {
      options.grow.push_back(value);
    } else if (take_value(argument, "--life=", value)) {
      options.life_seconds = std::min(60L, std::stol(value));
    } else if (take_value(argument, "--ready-fd=", value)) {
      options.ready_fd = std::stoi(value);
    } else if (take_value(argument, "--slow-start=", value)) {
      options.slow_start_ms = std::stol(value);
    } else if (take_value(argument, "--exit-code=", value)) {
      options.exit_code = std::stoi(value);
    } else if (argument == "--helper") {
      options.role = Role::Helper;
    } else if (argument == "--become-root") {
      options.become_root = true;
    } else if (argument == "--ignore-eof") {
      options.ignore_eof = true;
    } else if (argument == "--ignore-term") {
      options.ignore_term = true;
    } else if (argument == "--count-signals") {
      options.count_signals = true;
    } else {
      std::fprintf(stderr, "adversary: unknown argument %s\n", argv[i]);
      std::exit(64);
    }
  }
  return options;
}

}  // namespace corral::fakes
