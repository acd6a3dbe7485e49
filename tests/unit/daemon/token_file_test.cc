#include "daemon/token_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace corral::daemon {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kLongSecret = "crl_0123456789abcdef0123456789abcdef";

class TokenFileTest : public testing::Test {
 protected:
  TokenFileTest() {
    char name[] = "/tmp/corral-token-XXXXXX";
    if (mkdtemp(name) != nullptr) root_ = name;
  }
  ~TokenFileTest() override { std::filesystem::remove_all(root_); }

  std::string state() const { return root_ + "/made/state"; }
  std::string path() const { return state() + "/" + kTokensFile; }
  static mode_t mode_of(const std::string& path) {
    struct stat status {};
    return stat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
  }
  void write(const std::string& text) const {
    std::filesystem::create_directories(state());
    std::ofstream(path()) << text;
    chmod(path().c_str(), 0600);
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(state()), {}));
  }

 private:
  std::string root_;
};

TEST_F(TokenFileTest, KeepsWhatIsCreatedForItsOwnerAlone) {
  const Result<std::string> first = create_token(path(), "ci", {"files", "a \"b\""});
  const Result<std::string> second = create_token(path(), "all", {});

  ASSERT_TRUE(first && second);
  EXPECT_THAT(*first, StartsWith("crl_"));
  EXPECT_EQ(first->size(), 4u + 64u);
  EXPECT_NE(*first, *second);
  EXPECT_EQ(mode_of(path()), 0600u);
  EXPECT_EQ(mode_of(state()), 0700u);
  const Result<std::vector<http::Token>> tokens = read_tokens(path());
  ASSERT_TRUE(tokens);
  ASSERT_EQ(tokens->size(), 2u);
  EXPECT_EQ(tokens->at(0).name, "ci");
  EXPECT_EQ(tokens->at(0).secret, *first);
  EXPECT_THAT(tokens->at(0).servers, ElementsAre("files", "a \"b\""));
  EXPECT_TRUE(tokens->at(1).servers.empty());
  EXPECT_EQ(files(), 1u);
}

TEST_F(TokenFileTest, KeepsTheProjectsThatATokenMayName) {
  ASSERT_TRUE(create_token(path(), "ci", {"files"}, {"/srv/a", "/srv/b"}));
  ASSERT_TRUE(create_token(path(), "other", {}, {"/srv/c"}));

  const Result<std::vector<http::Token>> tokens = read_tokens(path());

  ASSERT_TRUE(tokens);
  EXPECT_THAT(tokens->at(0).servers, ElementsAre("files"));
  EXPECT_THAT(tokens->at(0).roots, ElementsAre("/srv/a", "/srv/b"));
  EXPECT_TRUE(tokens->at(1).servers.empty());
  EXPECT_THAT(tokens->at(1).roots, ElementsAre("/srv/c"));
}

TEST_F(TokenFileTest, WhatIsRevokedIsNowhereAnyMore) {
  const std::string secret = *create_token(path(), "ci", {});
  ASSERT_TRUE(create_token(path(), "other", {}));

  ASSERT_TRUE(remove_token(path(), "ci"));

  EXPECT_EQ(read_tokens(path())->size(), 1u);
  EXPECT_EQ(files(), 1u);  // no backup with the secret in it
  EXPECT_EQ(remove_token(path(), "ci").error().kind, Error::Kind::NotFound);
}

TEST_F(TokenFileTest, RefusesANameThatIsTakenOrNone) {
  ASSERT_TRUE(create_token(path(), "ci", {}));

  EXPECT_THAT(create_token(path(), "ci", {}).error().message, HasSubstr("revoke ci"));
  for (const std::string& name : {std::string(), std::string("A"), std::string("a b"), std::string("../x"),
                                  std::string("a\n"), std::string(65, 'a')}) {
    EXPECT_FALSE(create_token(path(), name, {})) << name;
  }
  EXPECT_TRUE(create_token(path(), std::string(64, 'a'), {}));
}

TEST_F(TokenFileTest, WithoutAFileThereAreNoTokens) {
  EXPECT_TRUE(read_tokens(path())->empty());
  EXPECT_EQ(remove_token(path(), "ci").error().kind, Error::Kind::NotFound);
  EXPECT_FALSE(std::filesystem::exists(state()));
}

TEST_F(TokenFileTest, RefusesAFileThatOthersMayOpenAndALink) {
  ASSERT_TRUE(create_token(path(), "ci", {}));
  for (const mode_t mode : {0640U, 0604U, 0620U}) {
    chmod(path().c_str(), mode);
    EXPECT_THAT(read_tokens(path()).error().message, HasSubstr("chmod 600"));
    EXPECT_FALSE(create_token(path(), "more", {}));
  }
  chmod(path().c_str(), 0600);
  std::filesystem::rename(path(), path() + ".real");
  std::filesystem::create_symlink(path() + ".real", path());

  EXPECT_FALSE(read_tokens(path()));
}

TEST_F(TokenFileTest, KeepsNothingInAFolderThatOthersMayWriteTo) {
  std::filesystem::create_directories(state());
  chmod(state().c_str(), 0770);

  EXPECT_THAT(create_token(path(), "ci", {}).error().message, HasSubstr("chmod 700"));
}

TEST_F(TokenFileTest, AFileThatIsHalfRightIsRefusedWithoutATokenInTheError) {
  const std::string good = std::string(R"("name":"a","secret":")") + kLongSecret + "\"";
  for (const std::string& token :
       {std::string("{\"name\":\"a\"}"), std::string(R"({"name":"a","secret":"crl_short"})"),
        R"({"name":"A b","secret":")" + std::string(kLongSecret) + "\"}", "{" + good + R"(,"servers":[]})",
        "{" + good + R"(,"servers":"files"})", "{" + good + R"(,"servers":[1]})",
        "{" + good + "},{" + good + "}", std::string("7")}) {
    write("{\"tokens\":[" + token + "]}");

    const Result<std::vector<http::Token>> tokens = read_tokens(path());

    ASSERT_FALSE(tokens) << token;
    EXPECT_THAT(tokens.error().message, Not(HasSubstr("crl_"))) << token;
  }
  for (const char* text : {"[]", "{}", "{\"tokens\":{}}", "no", "{\"tokens\":[]"}) {
    write(text);
    EXPECT_FALSE(read_tokens(path())) << text;
  }
}

TEST_F(TokenFileTest, ADaemonSeesEveryChangeAtItsNextLook) {
  TokenFile tokens(path());
  EXPECT_FALSE(tokens.any());

  ASSERT_TRUE(create_token(path(), "ci", {}));
  ASSERT_EQ(tokens.current().size(), 1u);
  EXPECT_EQ(tokens.current().front().name, "ci");
  ASSERT_TRUE(remove_token(path(), "ci"));
  EXPECT_FALSE(tokens.any());
  ASSERT_TRUE(create_token(path(), "ci", {}));
  EXPECT_TRUE(tokens.any());
  chmod(path().c_str(), 0644);
  EXPECT_FALSE(tokens.any()) << "it can be anybody's now";
  EXPECT_THAT(tokens.problem(), HasSubstr("chmod 600"));
  chmod(path().c_str(), 0600);
  EXPECT_TRUE(tokens.any());
  EXPECT_EQ(tokens.problem(), "");
}

}  // namespace
}  // namespace corral::daemon
