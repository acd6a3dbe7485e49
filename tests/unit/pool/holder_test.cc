// For whom a slot has its instance.
#include "pool/holder.h"

#include <gtest/gtest.h>

#include "pool/pool_parts.h"

namespace corral::tests {
namespace {

using pool::Holder;
using pool::Waiters;

Waiters waiting(std::initializer_list<FakePort*> ports) {
  Waiters waiters;
  for (FakePort* const port : ports) waiters.add({.port = port, .initialize_params = "{}"});
  return waiters;
}

TEST(Holder, OfASessionIsThatSession) {
  EXPECT_EQ(Holder::of(SessionId(7)).session(), SessionId(7));
  EXPECT_FALSE(Holder::of(SessionId(7)).is_spare());
  EXPECT_FALSE(Holder().session());
}

TEST(Holder, OfASpareBecomesTheSessionThatItIsGivenTo) {
  FakePort port(7, "object");
  Holder holder = Holder::spare("clients like this", R"({"a":1})");
  EXPECT_TRUE(holder.is_spare());
  EXPECT_EQ(holder.spare_for(), "clients like this");
  EXPECT_EQ(holder.introduction(), R"({"a":1})");
  EXPECT_FALSE(holder.take_given());

  holder.give_to(port);
  EXPECT_FALSE(holder.is_spare());
  EXPECT_EQ(holder.session(), port.id());
  EXPECT_EQ(holder.object(), "object");
  EXPECT_EQ(holder.introduction(), "");
  EXPECT_TRUE(holder.take_given());
  EXPECT_FALSE(holder.take_given()) << "it was a spare for the first session only";
}

TEST(Holder, IsTheSessionObjectOfTheFirstSessionThatWaits) {
  FakePort first(1, "a");
  FakePort second(2, "b");
  Holder holder;
  holder.started_for(waiting({&first, &second}));
  EXPECT_EQ(holder.object(), "a");
  holder.started_for({});
  EXPECT_EQ(holder.object(), "a") << "nobody waits for a spare";
}

TEST(Holder, IsHandedOnToASessionObjectThatStillUsesTheInstance) {
  FakePort first(1, "a");
  FakePort other(2, "a");
  FakePort second(3, "b");
  Holder holder;
  holder.started_for(waiting({&first}));
  holder.hand_on(nullptr, waiting({&second, &other}));
  EXPECT_EQ(holder.object(), "a") << "another session of it is still there";
  holder.hand_on(nullptr, {});
  EXPECT_EQ(holder.object(), "a") << "nobody else is there";
  holder.hand_on(nullptr, waiting({&second}));
  EXPECT_EQ(holder.object(), "b");
}

TEST(Holder, IsNobodyOnceASessionWithoutAnObjectUsesTheInstance) {
  FakePort first(1, "a");
  FakePort second(2, "b");
  FakePort plain(3);
  Holder holder;
  holder.started_for(waiting({&first}));
  holder.hand_on(nullptr, waiting({&second, &plain}));
  EXPECT_EQ(holder.object(), "");
  holder.hand_on(nullptr, waiting({&second}));
  EXPECT_EQ(holder.object(), "") << "it stays so";
}

}  // namespace
}  // namespace corral::tests
