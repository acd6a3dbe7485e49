#include "serve/listening_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "survey/temp_files.h"

namespace corral::serve {
namespace {

class ListeningSocketTest : public survey::TempFiles {
 protected:
  std::string path() const { return root() + "/s"; }
  bool exists() const { return access(path().c_str(), F_OK) == 0; }
  bool answers() const {
    const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    strncpy(address.sun_path, path().c_str(), sizeof address.sun_path - 1);
    return connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
};

TEST_F(ListeningSocketTest, IsForItsOwnerAloneWhateverTheUmask) {
  const mode_t before = umask(0);
  auto made = ListeningSocket::make(path());
  const mode_t during = umask(before);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(during, mode_t{0}) << "which is left as it was";
  struct stat status {};
  ASSERT_EQ(stat(path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0600U);
  EXPECT_TRUE(answers());
  const UniqueFd taken = made->take();
  EXPECT_TRUE(taken.valid());
}

TEST_F(ListeningSocketTest, TakesThePlaceOfOneThatWasLeft) {
  ASSERT_TRUE(ListeningSocket::make(path()));
  ASSERT_TRUE(exists());
  EXPECT_FALSE(answers());
  const auto made = ListeningSocket::make(path());
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_TRUE(answers());
}

TEST_F(ListeningSocketTest, IsRemovedOnce) {
  auto made = ListeningSocket::make(path());
  ASSERT_TRUE(made);
  made->remove();
  EXPECT_FALSE(exists());
  write(path(), "of the next daemon");
  made->remove();
  EXPECT_TRUE(exists());
}

TEST_F(ListeningSocketTest, ThatWasPassedIsNotOursToRemove) {
  auto made = ListeningSocket::make(path());
  ASSERT_TRUE(made);
  UniqueFd fd = made->take();
  const int number = fd.get();
  auto passed = ListeningSocket::take_or_make(std::move(fd), root() + "/other");
  ASSERT_TRUE(passed);
  passed->remove();
  EXPECT_TRUE(exists());
  EXPECT_EQ(passed->take().get(), number);
  EXPECT_NE(access((root() + "/other").c_str(), F_OK), 0) << "none is made beside it";
}

TEST_F(ListeningSocketTest, IsMadeIfNoneWasPassed) {
  EXPECT_TRUE(ListeningSocket::take_or_make(UniqueFd(), path()));
  EXPECT_TRUE(exists());
}

TEST_F(ListeningSocketTest, SaysWhyItCannotBeMade) {
  const std::string help = "; choose another --runtime-dir";
  const std::string nowhere = root() + "/missing/s";
  EXPECT_EQ(ListeningSocket::make(nowhere).error().message,
            "cannot create the socket '" + nowhere + "': No such file or directory" + help);
  const std::string fits = root() + "/" + std::string(106 - root().size(), 'x');
  EXPECT_TRUE(ListeningSocket::make(fits)) << "107 bytes";
  EXPECT_EQ(ListeningSocket::make(fits + "x").error().message,
            "cannot create the socket '" + fits + "x': File name too long" + help);
}

}  // namespace
}  // namespace corral::serve
