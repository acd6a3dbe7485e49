// When a missing file is an empty configuration, and when it is a mistake.
#include "serve/config_source.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "survey/temp_files.h"

namespace corral::serve {
namespace {

class ConfigSourceTest : public survey::TempFiles {
 protected:
  void SetUp() override {
    setenv("XDG_CONFIG_HOME", root().c_str(), 1);
    file_ = root() + "/corral/config.json";
  }
  void TearDown() override { unsetenv("XDG_CONFIG_HOME"); }
  void put(const std::string& text) {
    write(file_, text);
    chmod(file_.c_str(), 0600);
  }

  std::string file_;
};

TEST_F(ConfigSourceTest, ADefaultThatWasNeverThereIsEmpty) {
  ConfigSource source("");

  ASSERT_TRUE(source.read());
  ASSERT_TRUE(source.read());
  EXPECT_FALSE(source.found());
  EXPECT_EQ(source.file(), file_);
}

TEST_F(ConfigSourceTest, ADefaultThatComesIsRead) {
  ConfigSource source("");
  ASSERT_TRUE(source.read());
  put(R"({"mcpServers":{"a":{"command":"a"}}})");

  const Result<config::Configuration> configuration = source.read();

  ASSERT_TRUE(configuration) << configuration.error().message;
  EXPECT_EQ(configuration->servers.size(), 1U);
  EXPECT_TRUE(source.found());
}

TEST_F(ConfigSourceTest, WhatWasThereAndIsGoneIsAMistake) {
  put("{}");
  ConfigSource source("");
  ASSERT_TRUE(source.read());
  unlink(file_.c_str());

  EXPECT_FALSE(source.read());
}

/// With a machine's file that belongs to this user.
class ConfigSourceAboveAMachine : public ConfigSourceTest {
 protected:
  void SetUp() override {
    ConfigSourceTest::SetUp();
    put_machine(R"({"mcpServers":{"m":{"command":"m"}},"corral":{"keep":2,"locked":["keep"]}})");
  }
  void put_machine(const std::string& text) {
    chmod(write(machine_.path, text).c_str(), 0644);
    chmod((root() + "/etc").c_str(), 0755);
  }

  config::MachineFile machine_{root() + "/etc/config.json", geteuid()};
};

TEST_F(ConfigSourceAboveAMachine, NeedsNoFileOfTheUser) {
  ConfigSource source("", machine_);

  const Result<config::Configuration> configuration = source.read();

  ASSERT_TRUE(configuration) << configuration.error().message;
  EXPECT_NE(configuration->find("m"), nullptr);
  EXPECT_EQ(configuration->file, machine_.path);
  EXPECT_FALSE(source.found());
}

TEST_F(ConfigSourceAboveAMachine, StillMissesTheUsersFileThatWasThere) {
  put("{}");
  ConfigSource source("", machine_);
  ASSERT_TRUE(source.read());
  unlink(file_.c_str());

  EXPECT_FALSE(source.read());
}

TEST_F(ConfigSourceAboveAMachine, MayBeToldTheMachinesFileUnderAnotherName) {
  std::filesystem::create_directories(root() + "/corral");
  std::filesystem::create_symlink(machine_.path, file_);

  const Result<config::Configuration> configuration = ConfigSource(file_, machine_).read();

  ASSERT_TRUE(configuration) << configuration.error().message;
  EXPECT_NE(configuration->find("m"), nullptr);
  std::filesystem::remove(file_);
  EXPECT_FALSE(ConfigSource(file_, machine_).read()) << "nothing has that name any more";
}

TEST_F(ConfigSourceAboveAMachine, DoesNotLoseItsLocksWithTheFile) {
  ConfigSource source("", machine_);
  ASSERT_TRUE(source.read());
  unlink(machine_.path.c_str());

  const Result<config::Configuration> configuration = source.read();

  ASSERT_FALSE(configuration);
  EXPECT_NE(configuration.error().message.find("is gone"), std::string::npos);
  put_machine("{}");
  EXPECT_TRUE(source.read());
}

TEST_F(ConfigSourceAboveAMachine, StopsAtABrokenFile) {
  put_machine("{,}");

  EXPECT_FALSE(ConfigSource("", machine_).read());
  EXPECT_FALSE(ConfigSource::without_file(machine_).read());
}

TEST_F(ConfigSourceAboveAMachine, GivesOptionsButNoServersToADaemonOfOneCommand) {
  const Result<config::Configuration> configuration = ConfigSource::without_file(machine_).read();

  ASSERT_TRUE(configuration) << configuration.error().message;
  EXPECT_TRUE(configuration->servers.empty());
  EXPECT_EQ(configuration->options.keep, 2U);
  EXPECT_NE(configuration->lock_of("keep"), nullptr);
  EXPECT_EQ(configuration->file, "");
}

TEST_F(ConfigSourceTest, WhatWasAskedForMustBeThere) { EXPECT_FALSE(ConfigSource(file_).read()); }

TEST(ConfigSource, OfACommandHasNoFileAndIsEmpty) {
  ConfigSource source = ConfigSource::without_file();

  EXPECT_EQ(source.file(), "");
  ASSERT_TRUE(source.read());
  EXPECT_TRUE(source.read()->servers.empty());
  EXPECT_FALSE(source.found());
}

}  // namespace
}  // namespace corral::serve
