#include "daemon/http_root.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace corral::daemon {
namespace {

using testing::HasSubstr;

class HttpRoot : public testing::Test {
 protected:
  HttpRoot() {
    entry.name = "files";
    entry.share = config::Share::Root;
    token.server = user.server = "files";
    token.principal = "token:ci";
    user.principal = "user";
  }

  std::string allowed(transport::HttpArrival arrival, const std::string& root) const {
    arrival.root = root;
    const auto answer = root_for(arrival, &entry);
    const auto* const path = std::get_if<std::string>(&answer);
    return path != nullptr ? *path : "refused: " + std::to_string(std::get<1>(answer).status);
  }

  config::Server entry;
  transport::HttpArrival token;
  transport::HttpArrival user;
};

TEST_F(HttpRoot, IsRefusedUnlessTheServerIsSharedByRoot) {
  for (const config::Share share : {config::Share::Auto, config::Share::Shared, config::Share::Session}) {
    entry.share = share;
    entry.roots = token.roots = {"/srv/a"};
    EXPECT_EQ(allowed(user, "/srv/a"), "refused: 400");
    EXPECT_EQ(allowed(token, "/srv/a"), "refused: 400");
    EXPECT_EQ(allowed(token, ""), "");
  }
  user.root = "/srv/a";
  EXPECT_EQ(std::get<1>(root_for(user, nullptr)).status, 400)
      << "no entry, as with `corral serve -- COMMAND`";
}

TEST_F(HttpRoot, OfTheUserIsAnyAbsolutePath) {
  EXPECT_EQ(allowed(user, "/etc"), "/etc");
  EXPECT_EQ(allowed(user, "etc"), "refused: 400");
  EXPECT_EQ(allowed(user, "/" + std::string(5000, 'x')), "refused: 400");
  EXPECT_EQ(allowed(user, ""), "refused: 400") << "such a server needs one";
}

TEST_F(HttpRoot, OfATokenMustBeListedByItOrByTheEntry) {
  EXPECT_EQ(allowed(token, "/srv/a"), "refused: 403") << "nothing is listed";
  token.roots = {"/srv/a/"};
  entry.roots = {"/srv/b"};

  EXPECT_EQ(allowed(token, "/srv/a"), "/srv/a");
  EXPECT_EQ(allowed(token, "/srv/b/./"), "/srv/b");
  for (const char* other : {"/etc", "/", "/srv", "/srv/a/below", "/srv/a/../../etc", "/srv/ab"})
    EXPECT_EQ(allowed(token, other), "refused: 403") << other;
}

TEST_F(HttpRoot, RefusalSaysWhatToDoAndNotWhetherTheFolderIsThere) {
  token.root = "/no/such/folder";
  const auto missing = std::get<1>(root_for(token, &entry)).message;
  token.root = "/etc";
  const auto there = std::get<1>(root_for(token, &entry)).message;

  EXPECT_EQ(missing, there);
  EXPECT_THAT(there, HasSubstr("corral token create NAME --root DIR"));
}

}  // namespace
}  // namespace corral::daemon
