#include "base/worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

namespace corral {
namespace {

using testing::ElementsAre;

TEST(Worker, DoesOneJobAfterTheOtherElsewhereAndTellsOnTheLoop) {
  Loop loop;
  std::vector<int> done;  // by the worker
  int told_of = 0;        // on the loop, perhaps while the next job is being done
  std::thread::id elsewhere;
  std::thread::id told;
  Worker worker(loop);

  worker.run(
      [&] {
        done.push_back(1);
        elsewhere = std::this_thread::get_id();
      },
      [&] { ++told_of; });
  worker.run([&] { done.push_back(2); },
             [&] {
               ++told_of;
               told = std::this_thread::get_id();
               loop.stop();
             });
  loop.run();

  EXPECT_EQ(done, (std::vector{1, 2}));
  EXPECT_EQ(told_of, 2);
  EXPECT_NE(elsewhere, std::this_thread::get_id());
  EXPECT_EQ(told, std::this_thread::get_id());
}

TEST(Worker, ThatIsGoneTellsNobody) {
  Loop loop;
  bool told = false;
  {
    Worker worker(loop);
    worker.run([] {}, [&] { told = true; });
  }

  loop.run_due();

  EXPECT_FALSE(told);
}

TEST(Worker, IsBusyWhileAJobRuns) {
  Loop loop;
  Worker worker(loop);
  std::promise<void> leave;
  EXPECT_FALSE(worker.busy());

  worker.run([until = leave.get_future().share()] { until.wait(); }, {});

  EXPECT_TRUE(worker.busy());
  leave.set_value();
}

}  // namespace
}  // namespace corral
