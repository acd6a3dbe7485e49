// What is known of servers, and what follows from it.
#include "pool/server_catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pool/pool_parts.h"

namespace corral::tests {
namespace {

using knowledge::Sharing;
using router::ToolEffects;

using config::Share;
using knowledge::Era;
using testing::IsEmpty;

class ACatalog : public testing::Test {
 protected:
  pool::Ask ask(std::optional<bool> shared = std::nullopt) const { return {spec_, "{}", shared}; }

  Loop loop_;
  pool::ServerCatalog catalog_{loop_};
  std::shared_ptr<pool::ServerSpec> spec_ = files_spec(Share::Auto);
};

TEST_F(ACatalog, KnowsTheEraThatIsConfiguredOrThatAnInstanceHasShown) {
  EXPECT_EQ(catalog_.era_of(*spec_), Era::Legacy);
  spec_->entry.modern.reset();
  EXPECT_EQ(catalog_.era_of(*spec_), std::nullopt);
  catalog_.learn_era(*spec_, Era::Modern);
  EXPECT_EQ(catalog_.era_of(*spec_), Era::Modern);
}

TEST_F(ACatalog, SharesAServerWhoseToolsOnlyReadUntilASharedInstanceShowsAnother) {
  EXPECT_FALSE(catalog_.decide(ask()).shared);
  catalog_.learn_annotations(*spec_, Sharing::Private, ToolEffects::ReadOnly);
  EXPECT_TRUE(catalog_.decide(ask()).shared);
  catalog_.learn_annotations(*spec_, Sharing::Shared, ToolEffects::MayChange);
  EXPECT_FALSE(catalog_.decide(ask()).shared);
  catalog_.learn_annotations(*spec_, Sharing::Private, ToolEffects::ReadOnly);
  EXPECT_FALSE(catalog_.decide(ask()).shared) << "a private one may show fewer tools";
}

TEST_F(ACatalog, LeavesASessionThatComesBackOnItsSide) {
  EXPECT_TRUE(catalog_.decide(ask(true)).shared);
  catalog_.learn_annotations(*spec_, Sharing::Private, ToolEffects::ReadOnly);
  EXPECT_FALSE(catalog_.decide(ask(false)).shared);
  EXPECT_EQ(catalog_.decide(ask(false)).reason, "private: as it was when the session began");
}

TEST_F(ACatalog, KnowsServersByTheirLaunchKeyAlone) {
  catalog_.learn_that_it_answers_probes(*spec_);
  auto other = std::make_shared<pool::ServerSpec>(*spec_);
  other->server = "another name";
  EXPECT_TRUE(catalog_.answers_probes(*other));
  other->key += "x";
  EXPECT_FALSE(catalog_.answers_probes(*other));
}

TEST_F(ACatalog, GivesTheHintOfAServerOnce) {
  EXPECT_TRUE(catalog_.hint_once(*spec_));
  EXPECT_FALSE(catalog_.hint_once(*spec_));
}

TEST_F(ACatalog, TellsNothingOfAServerThatHasNeverRun) {
  EXPECT_EQ(catalog_.known(ask(), catalog_.decide(ask())), std::nullopt);
  EXPECT_THAT(catalog_.known_tools(ask()), IsEmpty());
}

TEST_F(ACatalog, ForgetsOnlyWhatIsNotInUseOnceItKnowsManyServers) {
  catalog_.learn_that_it_answers_probes(*spec_);
  auto other = std::make_shared<pool::ServerSpec>(*spec_);
  for (int number = 0; number < 300; ++number) {
    other->key = spec_->key + std::to_string(number);
    catalog_.learn_that_it_answers_probes(*other);
  }
  catalog_.forget_some([this](std::string_view key) { return key == spec_->key; });
  EXPECT_TRUE(catalog_.answers_probes(*spec_));
  EXPECT_FALSE(catalog_.answers_probes(*other));
}

TEST_F(ACatalog, ForgetsNothingWhileItKnowsFewServers) {
  catalog_.learn_that_it_answers_probes(*spec_);
  catalog_.forget_some([](std::string_view) { return false; });
  EXPECT_TRUE(catalog_.answers_probes(*spec_));
}

}  // namespace
}  // namespace corral::tests
