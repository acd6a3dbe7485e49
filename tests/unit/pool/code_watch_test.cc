// When the files of running servers are checked, and which slot is told that they have changed.
#include "pool/code_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "pool/pool_parts.h"

namespace corral::tests {
namespace {

using pool::Cause;
using pool::Life;
using pool::Slot;
using pool::Trigger;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::IsEmpty;

class ACodeWatch : public testing::Test {
 protected:
  ACodeWatch() {
    char name[] = "/tmp/corral-code-watch-XXXXXX";
    folder_ = mkdtemp(name);
    write_script("1");
    spec_->entry.probe = {};
    parts_.code.learn_builds_with([this](const instance::Instance&) { return build(); });
    parts_.build_of = [this](const instance::Instance& instance) { return parts_.code.watch(instance); };
    parts_.context.events = &stream_;
    stream_.listen(
        [this](const events::Event& event) { told_ += event.kind == events::Kind::Stale ? 1 : 0; });
  }
  ~ACodeWatch() override { std::filesystem::remove_all(folder_); }

  /// Each text has another length, so that no clock of the file system matters.
  void write_script(const std::string& text) const { std::ofstream(folder_ + "/script") << text; }
  knowledge::Fingerprint build() const {
    struct stat status {};
    const std::string path = folder_ + "/script";
    stat(path.c_str(), &status);
    const std::int64_t modified = status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec;
    return {{{path, status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size), modified}}};
  }
  Slot& slot_with(FakePort& port) {
    Slot& slot = parts_.slots.add(spec_->key, spec_, shared_decision());
    slot.add_waiter(port, "{}");
    slot.apply(Trigger::Asked);
    return slot;
  }
  Slot& open_slot_with(FakePort& port) {
    Slot& slot = slot_with(port);
    parts_.open_servers();
    EXPECT_EQ(slot.life(), Life::Ready);
    return slot;
  }

  std::string folder_;
  events::Stream stream_;
  int told_ = 0;
  PoolParts parts_;
  std::shared_ptr<pool::ServerSpec> spec_ = files_spec(config::Share::Shared);
  FakePort one_{1};
  FakePort two_{2};
};

TEST_F(ACodeWatch, LooksEveryHalfMinuteAndTellsOnce) {
  const Slot& slot = open_slot_with(one_);
  parts_.pass(seconds(30));
  EXPECT_THAT(slot.run().stale(), IsEmpty()) << "nothing has changed";

  write_script("another text");
  parts_.pass(milliseconds(29'999));
  EXPECT_THAT(slot.run().stale(), IsEmpty());
  parts_.pass(milliseconds(1));
  EXPECT_THAT(slot.run().stale(), HasSubstr("script has changed"));

  write_script("a third text, which is longer");
  parts_.pass(seconds(30));
  parts_.pass(seconds(30));
  EXPECT_EQ(told_, 1);
}

TEST_F(ACodeWatch, RestsWhileNothingRunsAndBeginsWithTheNextInstance) {
  Slot& slot = open_slot_with(one_);
  slot.leave(one_, pool::Ends::Session, instance::Haste::Polite, {});
  slot.end_unused(Cause::Idle);
  parts_.server().exit(0);
  parts_.settle();
  ASSERT_EQ(slot.life(), Life::Empty);
  parts_.pass(seconds(40));  // the check that was due finds no instance, and is the last

  slot.add_waiter(two_, "{}");
  slot.apply(Trigger::Asked);
  parts_.open_servers();
  write_script("another text");
  parts_.pass(milliseconds(29'999));
  EXPECT_THAT(slot.run().stale(), IsEmpty()) << "not in the old rhythm";
  parts_.pass(milliseconds(1));
  EXPECT_THAT(slot.run().stale(), HasSubstr("script has changed"));
}

TEST_F(ACodeWatch, TellsEverySlotWhoseFilesHaveChangedAndOnlyThose) {
  const Slot& old = open_slot_with(one_);
  write_script("another text");
  spec_ = std::make_shared<pool::ServerSpec>(*spec_);
  spec_->key += "x";
  const Slot& fresh = open_slot_with(two_);

  parts_.code.look();

  EXPECT_THAT(old.run().stale(), HasSubstr("script has changed"));
  EXPECT_THAT(fresh.run().stale(), IsEmpty());
  EXPECT_EQ(told_, 1);
}

TEST_F(ACodeWatch, LeavesAloneWhatTheEntryIgnores) {
  spec_->entry.on_change = config::OnChange::Ignore;
  Slot& slot = open_slot_with(one_);
  write_script("another text");
  parts_.code.look();
  parts_.code.look_at(slot);
  EXPECT_THAT(slot.run().stale(), IsEmpty());
}

TEST_F(ACodeWatch, LeavesAloneAnInstanceThatIsNotReady) {
  Slot& slot = slot_with(one_);
  parts_.code.look_at(slot);
  EXPECT_THAT(slot.run().stale(), IsEmpty()) << "it is starting";

  parts_.open_servers();
  write_script("another text");
  slot.apply(Trigger::Retired);
  ASSERT_NE(slot.life(), Life::Ready);
  parts_.code.look();
  EXPECT_THAT(slot.run().stale(), IsEmpty()) << "it ends anyway";
}

TEST_F(ACodeWatch, EndsAnUnusedInstanceOfOldCodeWhileItGoesThroughTheSlots) {
  Slot& unused = open_slot_with(one_);
  unused.leave(one_, pool::Ends::Session, instance::Haste::Polite, {});
  spec_ = std::make_shared<pool::ServerSpec>(*spec_);
  spec_->key += "x";
  const Slot& used = open_slot_with(two_);
  write_script("another text");

  parts_.code.look();

  EXPECT_EQ(unused.life(), Life::Ending);
  EXPECT_EQ(unused.run().cause(), Cause::Outdated);
  EXPECT_EQ(used.life(), Life::Ready);
  EXPECT_EQ(told_, 2);
}

}  // namespace
}  // namespace corral::tests
