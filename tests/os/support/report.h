// The line that `corral run --report` writes, as plain data.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace corral::os_tests {

struct Report {
  struct Survivor {
    long pid;
    std::string comm;
    long uid;
    std::string cause;
  };
  struct Ended {
    long pid;
    std::string comm;
    std::optional<std::string> signal;
  };
  struct Limit {
    std::string name;
    double limit;
    std::string by;
    bool exceeded;
  };
  struct Terminator {
    std::string kind;
    std::optional<long> exit;
  };

  std::string instance;
  std::string reason;
  std::optional<long> exit_code;
  std::optional<std::string> exit_signal;
  std::vector<Survivor> survivors;
  bool leaked = true;
  std::vector<Ended> ended;
  long ended_total = -1;
  std::map<std::string, long> signals;
  std::string level;
  std::string proof;
  std::vector<Limit> limits;
  std::vector<Terminator> terminators;
};

// Throws if the text is not such a line, which fails the test that asked.
Report parse_report(const std::string& text);

}  // namespace corral::os_tests
