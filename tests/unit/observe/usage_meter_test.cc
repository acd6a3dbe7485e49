#include "observe/usage_meter.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace corral::observe {
namespace {

using std::chrono::milliseconds;

TEST(CpuRates, CountWhatWasUsedSinceTheLastLook) {
  constexpr pid_t kKeeper = 7;
  CpuRates rates;
  const Clock::time_point start = Clock::now();
  const auto rate = [&](milliseconds used, milliseconds later) {
    Usage usage;
    usage.trees[kKeeper].cpu = 9;  // on average, where nothing better is known
    rates.compare(usage, {{kKeeper, used}}, start + later);
    return usage.trees[kKeeper].cpu.value();
  };

  EXPECT_DOUBLE_EQ(rate(milliseconds(5000), milliseconds(0)), 9);
  EXPECT_DOUBLE_EQ(rate(milliseconds(5100), milliseconds(199)), 9) << "too short a time to tell";
  EXPECT_DOUBLE_EQ(rate(milliseconds(5100), milliseconds(200)), 0.5);
  EXPECT_DOUBLE_EQ(rate(milliseconds(7100), milliseconds(1200)), 2);
  EXPECT_DOUBLE_EQ(rate(milliseconds(7000), milliseconds(2200)), 9) << "another tree, or a part is gone";
}

TEST(UsageMeter, TellsNobodyWhenItIsGone) {
  Loop loop;
  Worker worker(loop);
  auto meter = std::make_unique<UsageMeter>(loop, worker);
  bool told = false;
  meter->measure({getpid()}, {}, [&](const Usage&) { told = true; });
  worker.run([] {}, [&] { loop.stop(); });

  meter.reset();
  loop.run();

  EXPECT_FALSE(told);
}

}  // namespace
}  // namespace corral::observe
