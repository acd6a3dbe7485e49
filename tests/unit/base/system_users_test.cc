#include "base/system_users.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>

namespace corral {
namespace {

constexpr const char* kPasswd =
    "root:x:0:0:root:/root:/bin/sh\n"
    "# a comment\n"
    "+::::::\n"
    "short:x:1001:1001\n"
    "long:x:1001:1001:::/bin/sh:more\n"
    "word:x:many:1001::/h/word:/bin/sh\n"
    "groupless:x:1001:none::/h/groupless:/bin/sh\n"
    ":x:1001:1001::/h/nameless:/bin/sh\n"
    "you:x:1001:1001:You,,,:/home/you:/bin/sh\n"
    "twin:x:1001:1002::/h/twin:/bin/sh\n"
    "odd:x:1003:1003::home:/bin/sh";  // without a new line at the end

TEST(SystemUsers, AreFoundByTheirNumber) {
  const std::optional<SystemUser> found = system_user_in(kPasswd, 0);

  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "root");
  EXPECT_EQ(found->home, "/root");
  EXPECT_EQ(found->group, 0U);
}

TEST(SystemUsers, AreThoseOfTheFirstWholeLine) {
  const std::optional<SystemUser> found = system_user_in(kPasswd, 1001);

  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "you");
  EXPECT_EQ(found->home, "/home/you");
}

TEST(SystemUsers, HaveNoHomeIfItIsNotAPath) {
  const std::optional<SystemUser> found = system_user_in(kPasswd, 1003);

  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "odd");
  EXPECT_EQ(found->home, "");
}

TEST(SystemUsers, ThatTheFileDoesNotNameAreNotFound) {
  EXPECT_FALSE(system_user_in(kPasswd, 4711));
  EXPECT_FALSE(system_user_in("", 0));
  EXPECT_FALSE(system_user_in("\n\n", 0));
}

TEST(SystemUsers, OfThisMachineIncludeRoot) {
  const std::optional<SystemUser> root = system_user(0);

  ASSERT_TRUE(root);
  EXPECT_EQ(root->name, "root");
}

class GroupOfOne : public ::testing::Test {
 protected:
  SystemUser you_{"you", "/home/you", 1001};
};

TEST_F(GroupOfOne, HasTheNameOfItsUserAndNobodyElse) {
  EXPECT_TRUE(is_group_of_one_in("root:x:0:\nyou:x:1001:\n", you_, 1001));
  EXPECT_TRUE(is_group_of_one_in("you:x:1001:you", you_, 1001));
}

TEST_F(GroupOfOne, IsNotOneWithAnotherMember) {
  EXPECT_FALSE(is_group_of_one_in("you:x:1001:them\n", you_, 1001));
  EXPECT_FALSE(is_group_of_one_in("you:x:1001:you,them\n", you_, 1001));
}

TEST_F(GroupOfOne, IsNotOneOfAnotherNameOrNumber) {
  EXPECT_FALSE(is_group_of_one_in("users:x:1001:\n", you_, 1001));
  EXPECT_FALSE(is_group_of_one_in("you:x:1002:\n", you_, 1002));
  EXPECT_FALSE(is_group_of_one_in("you:x:1002:\n", you_, 1001));
  EXPECT_FALSE(is_group_of_one_in("you:x:1001\n", you_, 1001));
  EXPECT_FALSE(is_group_of_one_in("", you_, 1001));
}

class HomeDirectory : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* const before = getenv("HOME");
    if (before != nullptr) before_ = before;
  }
  void TearDown() override {
    if (before_) setenv("HOME", before_->c_str(), 1);
    if (!before_) unsetenv("HOME");
  }

 private:
  std::optional<std::string> before_;
};

TEST_F(HomeDirectory, IsTheVariableIfThatIsAPath) {
  setenv("HOME", "/some/where", 1);

  EXPECT_EQ(home_directory(), "/some/where");
}

TEST_F(HomeDirectory, IsOtherwiseWhatTheAccountSays) {
  const std::string expected = system_user(geteuid()).value_or(SystemUser()).home;

  setenv("HOME", "relative", 1);
  EXPECT_EQ(home_directory(), expected);
  unsetenv("HOME");
  EXPECT_EQ(home_directory(), expected);
}

}  // namespace
}  // namespace corral
