#include "serve/instance_lock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/told_daemon.h"
#include "control/runtime_dir.h"
#include "serve/pid_file.h"
#include "survey/temp_files.h"

namespace corral::serve {
namespace {

using std::chrono::milliseconds;

class InstanceLock : public survey::TempFiles {
 protected:
  std::string path() const { return control::lock_path(root()); }
};

TEST_F(InstanceLock, IsHeldByOne) {
  auto first = take_lock(root());
  ASSERT_TRUE(first);
  ASSERT_TRUE(first->valid());
  struct stat status {};
  ASSERT_EQ(stat(path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0600U);

  const auto second = take_lock(root());
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_FALSE(second->valid()) << "somebody holds it";
  first->reset();
  EXPECT_TRUE(take_lock(root())->valid());
}

TEST_F(InstanceLock, RefusesASymbolicLinkAndNeedsAFolder) {
  const std::string help = "; remove it, or choose another --runtime-dir";
  ASSERT_EQ(symlink("/dev/null", path().c_str()), 0);
  const auto link = take_lock(root());
  ASSERT_FALSE(link);
  EXPECT_EQ(link.error().message,
            "the lock '" + path() + "' cannot be opened: Too many levels of symbolic links" + help);

  const auto nowhere = take_lock(root() + "/missing");
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().message, "the lock '" + control::lock_path(root() + "/missing") +
                                         "' cannot be opened: No such file or directory" + help);
}

TEST_F(InstanceLock, IsKnownByItsDescriptor) {
  const auto lock = take_lock(root());
  ASSERT_TRUE(lock && lock->valid());
  EXPECT_TRUE(is_our_lock(lock->get(), root()));
  EXPECT_FALSE(is_our_lock(-1, root()));
  const UniqueFd other(open("/dev/null", O_RDWR | O_CLOEXEC));
  EXPECT_FALSE(is_our_lock(other.get(), root())) << "another file";
  const UniqueFd again(open(path().c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_FALSE(is_our_lock(again.get(), root())) << "the same file, held by somebody else";
  ASSERT_EQ(unlink(path().c_str()), 0);
  EXPECT_FALSE(is_our_lock(lock->get(), root())) << "nobody finds it any more";
}

TEST_F(InstanceLock, IsAwaited) {
  EXPECT_TRUE(await_free_lock(root(), milliseconds(0))) << "nobody ever held it";
  auto lock = take_lock(root());
  ASSERT_TRUE(lock && lock->valid());
  EXPECT_FALSE(await_free_lock(root(), milliseconds(0)));
  lock->reset();
  EXPECT_TRUE(await_free_lock(root(), milliseconds(0)));
  EXPECT_TRUE(take_lock(root())->valid()) << "who waited has let go of it";
}

TEST(RunningDaemon, IsDescribedAsFarAsItIsKnown) {
  EXPECT_EQ(describe({4711, "0.1.0", "/run/corral"}), "pid 4711, version 0.1.0, in /run/corral");
  EXPECT_EQ(describe({0, "", "/r"}), "pid not known, version not known, in /r");
}

class FoundDaemon : public survey::TempFiles {
 protected:
  std::string found(cli::ToldDaemon& daemon) const {
    const auto running = find_running(daemon.runtime_dir(), root() + "/pid");
    return running ? std::to_string(running->pid) + " " + running->version : "none";
  }
};

TEST_F(FoundDaemon, SaysWhoItIs) {
  cli::ToldDaemon daemon;
  daemon.status(R"({"daemon":{"pid":77,"version":"9.9"}})");
  EXPECT_EQ(found(daemon), "77 9.9");
  ASSERT_EQ(daemon.asked().size(), 1U);
  EXPECT_EQ(daemon.asked()[0].verb, control::Verb::Status);
  EXPECT_EQ(find_running(daemon.runtime_dir(), "")->runtime_dir, daemon.runtime_dir());
}

TEST_F(FoundDaemon, IsDescribedByItsPidFileIfItSaysTooLittle) {
  cli::ToldDaemon daemon;
  for (const char* status :
       {"{}", "[]", R"({"daemon":7})", R"({"daemon":{"pid":"x","version":7}})", R"({"daemon":{"pid":5}})",
        R"({"daemon":{"version":"5"}})", R"({"daemon":{"pid":0,"version":"5"}})"}) {
    daemon.status(status);
    ASSERT_TRUE(write_pid_file(root() + "/pid", {88, "8.8", "2026-11-15T11:22:52Z"}));
    EXPECT_EQ(found(daemon), "88 8.8") << status;
  }
  daemon.status(R"({"daemon":{"pid":5}})");
  remove_pid_file(root() + "/pid", {88, "8.8", "2026-11-15T11:22:52Z"});
  EXPECT_EQ(found(daemon), "5 ") << "what it said stays";
}

TEST_F(FoundDaemon, IsDescribedByItsPidFileIfItHangsUp) {
  cli::ToldDaemon daemon;
  ASSERT_TRUE(write_pid_file(root() + "/pid", {88, "8.8", "2026-11-15T11:22:52Z"}));
  EXPECT_EQ(found(daemon), "88 8.8");
}

TEST_F(FoundDaemon, IsNoneIfNobodyListens) {
  ASSERT_TRUE(write_pid_file(root() + "/pid", {88, "8.8", "2026-11-15T11:22:52Z"}));
  EXPECT_FALSE(find_running(root(), root() + "/pid"));
}

}  // namespace
}  // namespace corral::serve
