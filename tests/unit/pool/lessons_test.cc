// What an instance teaches about its server, and when it teaches nothing any more.
#include "pool/lessons.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pool/instance_run.h"
#include "pool/pool_parts.h"

namespace corral::tests {
namespace {

using knowledge::Era;
using knowledge::Fingerprint;
using router::ChangedList;
using router::ListKind;
using router::ToolEffects;
using testing::IsEmpty;

/// The instance runs; what happens to it is not the point here.
struct NoListener final : router::Router::Listener {
  void on_error_output(router::Router&, std::string_view) override {}
  void on_open(router::Router&) override {}
  void on_unusable(router::Router&) override {}
  void on_calls_finished(router::Router&) override {}
  void on_hung(router::Router&) override {}
  void on_server_lost(router::Router&, const router::LastWords&) override {}
  void on_instance_ended(router::Router&, const instance::TreeEnd&) override {}
};

const Fingerprint kBuild{{{"/srv/server.py", 1, 2, 3, 4}}};
const Fingerprint kOtherBuild{{{"/srv/server.py", 1, 2, 3, 5}}};
constexpr const char* kListed = R"({"tools":[{"name":"read"}]})";

class ALesson : public testing::Test {
 protected:
  void begin(const knowledge::SharingDecision& decision = private_decision()) {
    ASSERT_TRUE(run_.start(parts_.context, *spec_, decision, listener_, lessons_));
    lessons_.begin(spec_, *run_.router());
    run_.router()->open(pool::opening_for(*spec_, decision, Era::Legacy, port_.introduction()));
    parts_.open_servers();
  }
  router::Learner& learner() { return lessons_; }
  pool::Ask ask() const { return {spec_, port_.introduction(), std::nullopt}; }
  bool is_shared() { return parts_.catalog.decide(ask()).shared; }
  std::string tools() { return std::string(parts_.catalog.known_tools(ask())); }

  PoolParts parts_;
  NoListener listener_;
  std::shared_ptr<pool::ServerSpec> spec_ = files_spec(config::Share::Auto);
  FakePort port_{1};
  pool::Lessons lessons_{parts_.catalog};
  pool::InstanceRun run_{parts_.loop};
};

TEST_F(ALesson, BeginsBeforeTheInstanceIsOpen) {
  begin();
  EXPECT_THAT(lessons_.build().files, IsEmpty());
  learner().on_tools(ToolEffects::ReadOnly);
  EXPECT_TRUE(is_shared());
}

TEST_F(ALesson, NamesTheBuildThatTheInstanceRuns) {
  begin();
  lessons_.opened(kBuild);
  EXPECT_EQ(lessons_.build(), kBuild);
  EXPECT_TRUE(parts_.catalog.is_known_build(*spec_, kBuild));
}

TEST_F(ALesson, KeepsAListUntilTheServerSaysThatItHasChanged) {
  begin();
  lessons_.opened(kBuild);
  learner().on_list(port_, ListKind::Tools, kListed);
  EXPECT_EQ(tools(), kListed);
  learner().on_list_changed(ChangedList::Prompts);
  EXPECT_EQ(tools(), kListed);
  learner().on_list_changed(ChangedList::Tools);
  EXPECT_EQ(tools(), "");
}

TEST_F(ALesson, OfASharedInstanceCountsMoreThanOneOfAPrivateInstance) {
  parts_.catalog.learn_annotations(*spec_, knowledge::Sharing::Private, ToolEffects::ReadOnly);
  begin(shared_decision());
  lessons_.opened(kBuild);
  learner().on_tools(ToolEffects::MayChange);
  EXPECT_FALSE(is_shared());
  parts_.catalog.learn_annotations(*spec_, knowledge::Sharing::Private, ToolEffects::ReadOnly);
  EXPECT_FALSE(is_shared());
}

TEST_F(ALesson, IsOverForToolsAndListsWhenTheFilesHaveChanged) {
  begin();
  lessons_.opened(kBuild);
  learner().on_list(port_, ListKind::Tools, kListed);
  lessons_.mark_outdated();

  learner().on_tools(ToolEffects::ReadOnly);
  learner().on_list(port_, ListKind::Tools, R"({"tools":[{"name":"old"}]})");
  learner().on_list_changed(ChangedList::Tools);

  EXPECT_FALSE(is_shared());
  EXPECT_EQ(tools(), kListed) << "what the new code shows is not in the hands of the old";
}

TEST_F(ALesson, IsOverWhenTheCatalogDescribesAnotherBuildBeforeAnyCheckHasNoticed) {
  begin();
  lessons_.opened(kBuild);
  parts_.catalog.learn_build({*spec_, run_.router()->instance()->handshake(), false}, kOtherBuild);

  learner().on_tools(ToolEffects::ReadOnly);
  learner().on_list(port_, ListKind::Tools, kListed);

  EXPECT_FALSE(is_shared());
  EXPECT_EQ(tools(), "");
}

TEST_F(ALesson, AboutQuestionsAndProbesHoldsForEveryBuild) {
  parts_.catalog.learn_annotations(*spec_, knowledge::Sharing::Private, ToolEffects::ReadOnly);
  begin(shared_decision());
  lessons_.opened(kBuild);
  lessons_.mark_outdated();
  ASSERT_TRUE(is_shared());
  ASSERT_FALSE(parts_.catalog.answers_probes(*spec_));

  learner().on_question();
  learner().on_probe_answered();

  EXPECT_FALSE(is_shared());
  EXPECT_TRUE(parts_.catalog.answers_probes(*spec_));
}

TEST_F(ALesson, BeginsAgainWithTheNextInstance) {
  begin();
  lessons_.opened(kBuild);
  lessons_.mark_outdated();

  lessons_.begin(spec_, *run_.router());
  EXPECT_THAT(lessons_.build().files, IsEmpty());
  learner().on_tools(ToolEffects::ReadOnly);
  EXPECT_TRUE(is_shared());
}

}  // namespace
}  // namespace corral::tests
