// Which event each happening becomes: kind, cause, process and number. session/event_words_test.cc has the
// sentences of a whole life.
#include "pool/slot_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pool/pool_parts.h"

namespace corral::tests {
namespace {

using events::Event;
using events::Kind;
using pool::Cause;
using pool::InstanceEnd;
using pool::Life;
using pool::Slot;
using pool::Trigger;
using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

class SlotEvents : public testing::Test {
 protected:
  SlotEvents() { parts_.context.limits.restart.second_delay = std::chrono::seconds(1); }

  Slot& add(const knowledge::SharingDecision& decision, pool::Holder holder = {}) {
    return parts_.slots.add(spec_->key, spec_, decision, std::move(holder));
  }
  Slot& started(const knowledge::SharingDecision& decision = shared_decision()) {
    Slot& slot = add(decision);
    slot.add_waiter(port_, "{}");
    slot.apply(Trigger::Asked);
    return slot;
  }
  Slot& ready() {
    Slot& slot = started();
    parts_.open_servers();
    EXPECT_EQ(slot.life(), Life::Ready);
    return slot;
  }

  PoolParts parts_;
  std::shared_ptr<pool::ServerSpec> spec_ = files_spec(config::Share::Shared);
  FakePort port_{7};
};

TEST_F(SlotEvents, OfAStartSayForWhomItIs) {
  const Event shared = started_event(started());
  EXPECT_EQ(shared.kind, Kind::Spawn);
  EXPECT_EQ(shared.cause, "shared");
  EXPECT_EQ(shared.server, "files");
  EXPECT_FALSE(shared.instance.empty());
  EXPECT_EQ(started_event(started(private_decision())).cause, "private");

  Slot& spare = add(private_decision(), pool::Holder::spare("files", "{}"));
  spare.apply(Trigger::Asked);
  EXPECT_EQ(started_event(spare).cause, "spare");
}

TEST_F(SlotEvents, OfAStartAfterADeathAreRestarts) {
  Slot& slot = ready();
  slot.add_waiter(port_, "{}");
  parts_.server().exit(1 << 8);
  parts_.settle();
  ASSERT_EQ(slot.life(), Life::Restarting);
  const Event event = started_event(slot);
  EXPECT_EQ(event.kind, Kind::Restart);
  EXPECT_THAT(event.text, HasSubstr("started again, shared: a test"));
}

TEST_F(SlotEvents, OfAnOpenInstanceMeasureTheTimeSinceItsStart) {
  Slot& slot = started();
  parts_.clock.pass(milliseconds(250));
  parts_.open_servers();
  const Event event = ready_event(slot);
  EXPECT_EQ(event.kind, Kind::Ready);
  EXPECT_EQ(event.took, milliseconds(250));
  EXPECT_EQ(event.pid, parts_.server().number());
}

TEST_F(SlotEvents, OfAnAttachedSessionSayHowItGotItsInstance) {
  const Slot& slot = ready();
  for (const auto& [way, cause] :
       {std::pair(events::Cause::Spawn, "spawn"), std::pair(events::Cause::Warm, "warm"),
        std::pair(events::Cause::Spare, "spare")}) {
    const Event event = attached_event(slot, {.port = &port_, .initialize_params = "{}", .way = way});
    EXPECT_EQ(event.kind, Kind::Attach);
    EXPECT_EQ(event.cause, cause);
    EXPECT_EQ(event.session, 7U);
  }
}

TEST_F(SlotEvents, OfASessionWithoutAnInstanceNameNone) {
  const Event event = answered_without_instance_event(port_, *spec_);
  EXPECT_EQ(event.kind, Kind::Attach);
  EXPECT_EQ(event.cause, "manifest");
  EXPECT_EQ(event.session, 7U);
  EXPECT_EQ(event.instance, "");
  EXPECT_EQ(event.text, "session 7: attached to server files without starting it");
}

TEST_F(SlotEvents, OfACrashTellAHangFromADeathAndKeepStderrToItself) {
  Slot& slot = ready();
  const router::LastWords why{
      .sentence = "server files exited with code 1", .stderr_end = "secret", .server = "files"};
  const Event died = crashed_event(slot, why);
  EXPECT_EQ(died.kind, Kind::Crash);
  EXPECT_EQ(died.cause, "died");
  EXPECT_THAT(died.text, Not(HasSubstr("secret")));

  slot.end_unused(Cause::Hung);
  EXPECT_EQ(crashed_event(slot, why).cause, "hung");
}

TEST_F(SlotEvents, OfAnEndThatCorralDecidesNameItsCause) {
  Slot& slot = ready();
  slot.end_unused(Cause::Evicted);
  const Event event = stopping_event(slot);
  EXPECT_EQ(event.kind, Kind::Stop);
  EXPECT_EQ(event.cause, cause_name(Cause::Evicted));
  EXPECT_EQ(event.pid, parts_.server().number());
}

TEST_F(SlotEvents, OfASlotWithoutAnInstanceNameOnlyTheServer) {
  const Event event = slot_event(add(shared_decision()), Kind::Failed, "start", "it could not be started");
  EXPECT_EQ(event.kind, Kind::Failed);
  EXPECT_EQ(event.cause, "start");
  EXPECT_EQ(event.server, "files");
  EXPECT_EQ(event.instance, "");
  EXPECT_EQ(event.pid, 0);
  EXPECT_EQ(event.text, "it could not be started");
}

InstanceEnd end_of_files() {
  InstanceEnd end;
  end.server = "files";
  end.instance = InstanceId("0123abcdef");
  end.pid = 4711;
  end.cause = Cause::Idle;
  end.ending.sentence = "exited with code 0";
  end.ending.ended_processes = 3;
  end.took = milliseconds(12);
  return end;
}

TEST(EndedEvents, WithProofAreOneEventThatCountsTheProcesses) {
  InstanceEnd end = end_of_files();
  end.ending.proved_empty = true;
  const auto events = ended_events(end);
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].kind, Kind::Extinct);
  EXPECT_EQ(events[0].cause, "idle");
  EXPECT_EQ(events[0].pid, 4711);
  EXPECT_EQ(events[0].count, 3U);
  EXPECT_EQ(events[0].took, milliseconds(12));
  EXPECT_EQ(
      events[0].text,
      "instance 0123abcd of server files: exited with code 0 (idle, 3 processes, 12 ms), its tree is gone");
}

TEST(EndedEvents, WithoutProofAreOneForEachSurvivor) {
  InstanceEnd end = end_of_files();
  end.ending.survivors = {{71, "node", "it is in another namespace"}, {72, "sh", "it does not die"}};
  const auto events = ended_events(end);
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(events[0].kind, Kind::Survivor);
  EXPECT_EQ(events[0].pid, 71);
  EXPECT_EQ(events[1].kind, Kind::Survivor);
  EXPECT_EQ(events[1].pid, 72);
  EXPECT_EQ(events[0].count, 1U);
  EXPECT_THAT(events[1].text, HasSubstr("process 71 (node) could not be ended: it is in another namespace"));
}

TEST(EndedEvents, WithoutProofAndWithoutASurvivorNameNoProcess) {
  const auto events = ended_events(end_of_files());
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].kind, Kind::Survivor);
  EXPECT_EQ(events[0].pid, 0);
  EXPECT_THAT(events[0].text, HasSubstr("its tree was not proved gone"));
}

}  // namespace
}  // namespace corral::tests
