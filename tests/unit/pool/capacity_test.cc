// How many instances there may be, and which one makes room; without a pool.
#include "pool/capacity.h"

#include <gtest/gtest.h>

#include "pool/pool_parts.h"

namespace corral::tests {
namespace {

using pool::Cause;
using pool::Life;
using pool::Slot;
using pool::Trigger;

class ACapacity : public testing::Test {
 protected:
  /// A slot with an instance that is ready, and no session.
  Slot& idle_slot(const std::string& key, pool::Holder holder = {}) {
    Slot& slot = parts_.slots.add(key, spec_, shared_decision(), std::move(holder));
    slot.apply(Trigger::Asked);
    parts_.open_servers();
    parts_.pass(std::chrono::seconds(1));
    return slot;
  }

  PoolParts parts_;
  std::shared_ptr<pool::ServerSpec> spec_ = files_spec(config::Share::Shared);
  FakePort port_{1};
};

TEST_F(ACapacity, EndsNothingWhileThereIsRoom) {
  parts_.context.limits.max_instances = 2;
  const Slot& slot = idle_slot("a");
  EXPECT_TRUE(parts_.capacity.make_room(*spec_));
  EXPECT_EQ(slot.life(), Life::Ready);
}

TEST_F(ACapacity, EndsTheInstanceThatWasNotUsedForLongest) {
  parts_.context.limits.max_instances = 2;
  const Slot& older = idle_slot("a");
  const Slot& newer = idle_slot("b");
  EXPECT_TRUE(parts_.capacity.make_room(*spec_));
  EXPECT_TRUE(is_ending(older.life()));
  EXPECT_EQ(older.run().cause(), Cause::Evicted);
  EXPECT_EQ(newer.life(), Life::Ready);
  EXPECT_TRUE(parts_.capacity.make_room(*spec_)) << "what is on its way out does not count";
  EXPECT_EQ(newer.life(), Life::Ready);
}

TEST_F(ACapacity, NeverEndsTheInstanceOfASessionThatMayNotBeParked) {
  parts_.context.limits.max_instances = 1;
  spec_->entry.park = false;
  Slot& slot = idle_slot("a");
  slot.add_waiter(port_, "{}");
  slot.apply(Trigger::Asked);
  const Result<void> room = parts_.capacity.make_room(*spec_);
  ASSERT_FALSE(room);
  EXPECT_NE(room.error().message.find("all instances are in use"), std::string::npos);
  EXPECT_EQ(slot.life(), Life::Ready);

  spec_->entry.park = true;
  EXPECT_TRUE(parts_.capacity.make_room(*spec_));
  EXPECT_TRUE(is_ending(slot.life()));
  EXPECT_EQ(port_.departures.size(), 1U);
}

TEST_F(ACapacity, KeepsTheNewestIdleInstancesOfAServerAndItsSpares) {
  parts_.context.limits.keep = 1;
  const Slot& oldest = idle_slot("a");
  const Slot& spare = idle_slot("b", pool::Holder::spare("somebody", "{}"));
  const Slot& newest = idle_slot("c");
  parts_.capacity.keep_newest();
  EXPECT_TRUE(is_ending(oldest.life()));
  EXPECT_EQ(spare.life(), Life::Ready);
  EXPECT_EQ(newest.life(), Life::Ready);
}

TEST_F(ACapacity, HasNoRoomForASpareWhereAnotherInstanceWouldHaveToGo) {
  parts_.context.limits.max_instances = 1;
  EXPECT_TRUE(parts_.capacity.has_room_for_spare(*spec_));
  idle_slot("a");
  EXPECT_FALSE(parts_.capacity.has_room_for_spare(*spec_));
}

}  // namespace
}  // namespace corral::tests
