// `corral tools` and `corral call` start their own program as `corral connect NAME` to reach a server. Here
// that is this test program, which then is a server that says what a script tells it to, and runs no tests.
#pragma once

#include <string>
#include <vector>

#include "cli/told_daemon.h"

namespace corral::cli {

/// The variable that names the script.
inline constexpr const char* kScript = "CORRAL_TESTS_SCRIPT";

/// An answer to a method: messages, one on each line, with $ID for the id of the request; or "exit N".
/// Of several answers to one method the last one stays.
struct Scripted {
  std::string method;
  std::string messages;
};

/// As a file for the server; `file` must be there as long as commands run.
void write_script(const std::string& file, const std::vector<Scripted>& script);

/// What it was asked, line by line; the first line is the words behind `connect`.
std::vector<std::string> asked_by(const std::string& file);

}  // namespace corral::cli
