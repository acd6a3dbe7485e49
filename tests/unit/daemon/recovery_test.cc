// Whom a new daemon forgets.
#include "daemon/recovery.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "instance/journal.h"
#include "registry/sqlite_registry.h"

namespace corral::daemon {
namespace {

constexpr std::chrono::milliseconds kHistory{std::chrono::hours(1)};
constexpr std::chrono::seconds kPatience{15};

class RecoveryTest : public testing::Test {
 protected:
  RecoveryTest() {
    const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              ("corral-recovery-" + std::string(test->name()) + "-" + std::to_string(getpid()));
    std::filesystem::create_directory(folder_);
    std::filesystem::permissions(folder_, std::filesystem::perms::owner_all);
  }
  ~RecoveryTest() override { std::filesystem::remove_all(folder_); }

  std::vector<std::string> left_after_recovery(const registry::DaemonRecord& other) {
    Loop loop;
    registry::open_registry(loop, folder_ / "registry.db")->begin(other);
    Records records(loop, folder_, kHistory);
    recover_remnants(records, [](pid_t, const ChildEnded&) { FAIL() << "nothing of it was in a container"; });
    Timer late(loop);
    late.start(kPatience, [&loop] { loop.stop(); });
    records.worker().run([] {}, [&loop] { loop.stop(); });  // one job after the other
    loop.run();
    std::vector<std::string> left;
    for (const registry::Unfinished& one : records.registry().unfinished(records.self().id)) {
      left.push_back(one.daemon.id);
    }
    return left;
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(RecoveryTest, ADaemonThatLivesIsNotForgottenThoughItHasNoInstance) {
  const registry::DaemonRecord living = instance::record_of_this_process("1.0.0");

  EXPECT_EQ(left_after_recovery(living), std::vector<std::string>{living.id});
}

TEST_F(RecoveryTest, ADaemonOfAnotherBootIsForgotten) {
  registry::DaemonRecord past = instance::record_of_this_process("1.0.0");
  past.boot_id = "another";

  EXPECT_TRUE(left_after_recovery(past).empty());
}

}  // namespace
}  // namespace corral::daemon
