#include "cli/commands/reap_options.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "config/configuration.h"
#include "survey/temp_files.h"

namespace corral::cli {
namespace {

class KeepCount : public survey::TempFiles {
 protected:
  KeepCount() {
    unsetenv("MAX_KEEP_PROCESSES");
    if (const char* const before = getenv("XDG_CONFIG_HOME")) before_ = before;
    setenv("XDG_CONFIG_HOME", root().c_str(), 1);
  }
  ~KeepCount() override {
    unsetenv("MAX_KEEP_PROCESSES");
    before_ ? setenv("XDG_CONFIG_HOME", before_->c_str(), 1) : unsetenv("XDG_CONFIG_HOME");
  }
  void configure(const std::string& text) const { write(config::default_file(), text); }

 private:
  std::optional<std::string> before_;
};

TEST_F(KeepCount, IsWhatIsGivenElseTheConfigurationsElseTheEnvironmentsElseNine) {
  EXPECT_EQ(keep_count({}).value(), 9U);
  setenv("MAX_KEEP_PROCESSES", "4", 1);
  EXPECT_EQ(keep_count({}).value(), 4U);
  configure(R"({"mcpServers": {}, "corral": {"keep": 3}})");
  EXPECT_EQ(keep_count({}).value(), 3U);
  EXPECT_EQ(keep_count(2).value(), 2U);
}

TEST_F(KeepCount, IsTheEnvironmentsWhereTheConfigurationSaysNothingOrIsWrong) {
  setenv("MAX_KEEP_PROCESSES", "4", 1);
  for (const char* const text : {R"({"mcpServers": {}})", "{"}) {
    configure(text);
    EXPECT_EQ(keep_count({}).value(), 4U) << text;
  }
  EXPECT_EQ(config::default_configuration().options.keep, 4U) << "the daemon has the same";
}

TEST_F(KeepCount, AZeroThatNobodyTypedCountsAsOne) {
  setenv("MAX_KEEP_PROCESSES", "0", 1);
  EXPECT_EQ(keep_count({}).value(), 1U);
  configure(R"({"mcpServers": {}, "corral": {"keep": 0}})");
  EXPECT_EQ(keep_count({}).value(), 1U);
  EXPECT_EQ(keep_count(0).value(), 0U);
}

TEST_F(KeepCount, AValueThatIsNotANumberIsAnError) {
  setenv("MAX_KEEP_PROCESSES", "many", 1);

  ASSERT_FALSE(keep_count({}));
  EXPECT_NE(keep_count({}).error().message.find("MAX_KEEP_PROCESSES is 'many'"), std::string::npos);
}

}  // namespace
}  // namespace corral::cli
