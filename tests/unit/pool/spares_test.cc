// Instances that are started before a session asks for them; without a pool.
#include "pool/spares.h"

#include <gtest/gtest.h>

#include "pool/pool_parts.h"

namespace corral::tests {
namespace {

using pool::Life;
using pool::Slot;

constexpr const char* kTester = R"({"clientInfo":{"name":"tester","version":"1"}})";
constexpr const char* kOther = R"({"clientInfo":{"name":"other","version":"1"}})";

class SomeSpares : public testing::Test {
 protected:
  SomeSpares() { spec_->entry.warm = 2; }

  pool::Ask ask(const char* introduction = kTester) const { return {spec_, introduction, std::nullopt}; }
  Slot* give(const char* introduction = kTester) {
    return spares_->give_to(port_, ask(introduction), private_decision());
  }

  PoolParts parts_;
  std::shared_ptr<pool::ServerSpec> spec_ = files_spec(config::Share::Session);
  std::optional<pool::Spares> spares_{
      std::in_place, pool::Spares::Parts{parts_.loop, parts_.slots, parts_.catalog, parts_.code,
                                         parts_.capacity, parts_.stopped}};
  FakePort port_{7, "object"};
};

TEST_F(SomeSpares, AreBegunInALaterTurnThanTheFirstSessionThatCouldHaveHadOne) {
  EXPECT_EQ(give(), nullptr);
  EXPECT_EQ(parts_.started(), 0U);
  parts_.settle();
  EXPECT_EQ(parts_.started(), 2U);
}

TEST_F(SomeSpares, AreGivenOnceAndReplaced) {
  give();
  parts_.open_servers();
  Slot* const given = give();
  ASSERT_NE(given, nullptr);
  EXPECT_EQ(given->life(), Life::Ready);
  EXPECT_TRUE(!given->holder().is_spare());
  EXPECT_EQ(given->holder().session(), port_.id());
  EXPECT_EQ(given->holder().object(), "object");
  Slot* const second = give();
  EXPECT_NE(second, given);
  EXPECT_EQ(give(), nullptr);
  parts_.settle();
  EXPECT_EQ(parts_.started(), 4U);
}

TEST_F(SomeSpares, AreNotGivenToAClientThatSaysSomethingElseOfItself) {
  give();
  parts_.open_servers();
  EXPECT_EQ(give(kOther), nullptr);
  EXPECT_NE(give(), nullptr);
}

TEST_F(SomeSpares, AreNotBegunForASharedServerOrWhereNoneAreWanted) {
  EXPECT_EQ(spares_->give_to(port_, ask(), shared_decision()), nullptr);
  spec_->entry.warm = 0;
  EXPECT_EQ(give(), nullptr);
  parts_.settle();
  EXPECT_EQ(parts_.started(), 0U);
}

TEST_F(SomeSpares, AreNotBegunForAServerThatIsStopped) {
  give();
  parts_.stopped.insert("files");
  parts_.settle();
  EXPECT_EQ(parts_.started(), 0U);
}

TEST_F(SomeSpares, AreNotBegunBeyondTheRoomThereIs) {
  parts_.context.limits.max_instances = 1;
  give();
  parts_.settle();
  EXPECT_EQ(parts_.started(), 1U);
}

TEST_F(SomeSpares, AreNotBegunOnceTheDaemonEnds) {
  give();
  spares_->close();
  parts_.settle();
  EXPECT_EQ(parts_.started(), 0U);
}

TEST_F(SomeSpares, AreNotBegunByATaskThatOutlivesThem) {
  give();
  spares_.reset();
  parts_.settle();
  EXPECT_EQ(parts_.started(), 0U);
}

}  // namespace
}  // namespace corral::tests
