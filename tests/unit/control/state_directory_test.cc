#include "control/runtime_dir.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <optional>

namespace corral::control {
namespace {

/// Sets a variable, or takes it away, for the length of a test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = getenv(name)) before_ = before;
    if (value == nullptr) {
      unsetenv(name);
    } else {
      setenv(name, value, 1);
    }
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() {
    if (before_) {
      setenv(name_, before_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

std::string with(const char* state, const char* home) {
  const Variable one("XDG_STATE_HOME", state);
  const Variable other("HOME", home);
  return default_state_directory();
}

TEST(StateDirectory, IsWhereTheUserWantsItElseBelowHome) {
  EXPECT_EQ(with("/var/mine", "/home/me"), "/var/mine/corral");
  EXPECT_EQ(with(nullptr, "/home/me"), "/home/me/.local/state/corral");
  EXPECT_EQ(with("", "/home/me"), "/home/me/.local/state/corral");
}

TEST(StateDirectory, IsNoneWithoutAHome) {
  EXPECT_EQ(with(nullptr, nullptr), "");
  EXPECT_EQ(with("relative", "also/relative"), "");
}

}  // namespace
}  // namespace corral::control
