#include "observe/crash_loops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace corral::observe {
namespace {

using events::Event;
using events::Kind;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class CrashLoopsTest : public testing::Test {
 protected:
  void happens(Kind kind, const std::string& server = "files", const std::string& text = "exit 3") {
    Event event;
    event.kind = kind;
    event.server = server;
    event.text = text;
    event.time_ms = now_;
    loops_.handle(event);
  }
  void dies(int times, const std::string& server = "files") {
    for (int i = 0; i < times; ++i) happens(Kind::Crash, server);
  }

  std::int64_t now_ = 1'000'000;
  CrashLoops loops_{[this] { return now_; }};
};

TEST_F(CrashLoopsTest, FiveDeathsInARowAreALoop) {
  dies(4);
  EXPECT_THAT(loops_.now(), IsEmpty());

  dies(1);

  ASSERT_THAT(loops_.now(), SizeIs(1));
  EXPECT_EQ(loops_.now()[0].server, "files");
  EXPECT_EQ(loops_.now()[0].text, "it died 5 times in a row; last error: exit 3");
}

TEST_F(CrashLoopsTest, OneThatIsReadyAgainIsNone) {
  dies(5);

  happens(Kind::Ready);

  EXPECT_THAT(loops_.now(), IsEmpty());
}

TEST_F(CrashLoopsTest, BeingReadyForAMomentDoesNotMakeUpForDeaths) {
  dies(5);
  happens(Kind::Ready);
  now_ += 2000;

  dies(1);

  ASSERT_THAT(loops_.now(), SizeIs(1));
  EXPECT_THAT(loops_.now()[0].text, HasSubstr("6 times"));
}

TEST_F(CrashLoopsTest, ALongLifeMakesUpForDeaths) {
  dies(5);
  happens(Kind::Ready);
  now_ += 30'000;

  dies(4);

  EXPECT_THAT(loops_.now(), IsEmpty());
}

TEST_F(CrashLoopsTest, WhatNobodyTriesAnyMoreIsForgotten) {
  dies(5);
  now_ += 10 * 60'000 + 1;

  EXPECT_THAT(loops_.now(), IsEmpty());
  dies(4);
  EXPECT_THAT(loops_.now(), IsEmpty());
}

TEST_F(CrashLoopsTest, ServersOfClientsWithoutEndTakeABoundedPlace) {
  for (int i = 0; i < 300; ++i) {
    ++now_;
    dies(5, "server-" + std::to_string(i));
  }

  EXPECT_THAT(loops_.now(), SizeIs(256));
}

}  // namespace
}  // namespace corral::observe
