#include "knowledge/sharing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <type_traits>
#include <vector>

namespace corral::knowledge {
namespace {

using config::Share;
using knowledge::Era;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr knowledge::KnownServer kStateless = {"npm:time", true, "it only reads the clock"};
constexpr knowledge::KnownServer kBrowser = {"npm:browser", false, "one browser"};

SharingFacts entry() {
  SharingFacts facts;
  facts.server = "files";
  facts.from_configuration = true;
  return facts;
}

// A manifest holds lists of megabytes, and a decision is made for each request of a modern client.
static_assert(std::is_trivially_copyable_v<decltype(SharingFacts::shown)>);

struct Case {
  const char* what;
  SharingFacts facts;
  bool shared;
  const char* reason;
};

/// `Share::Auto` with what `change` adds to an unknown server.
template <class Change>
Case automatic(const char* what, Change change, bool shared, const char* reason) {
  SharingFacts facts = entry();
  change(facts);
  return {what, facts, shared, reason};
}

TEST(Sharing, NeedsEvidence) {
  const std::vector<Case> cases = {
      automatic(
          "unknown", [](SharingFacts&) {}, false, "unknown until a session has listed them"),
      automatic(
          "read-only", [](SharingFacts& f) { f.shown.read_only = true; }, true,
          "every tool is annotated as read-only"),
      automatic(
          "writes", [](SharingFacts& f) { f.shown.read_only = false; }, false,
          "not every tool is annotated as read-only"),
      automatic(
          "known to be safe", [](SharingFacts& f) { f.known = &kStateless; }, true,
          "it only reads the clock"),
      automatic(
          "known not to be", [](SharingFacts& f) { f.known = &kBrowser; }, false, "one browser"),
      automatic(
          "the user's word", [](SharingFacts& f) { f.stateless_by_configuration = true; }, true,
          "\"stateless\""),
      automatic(
          "modern", [](SharingFacts& f) { f.era = Era::Modern; }, true, "no state per connection"),
      automatic(
          "modern, seen", [](SharingFacts& f) { f.era = Era::Modern, f.shown.modern = true; }, true,
          "no state per connection"),
  };
  for (const Case& each : cases) {
    const SharingDecision decision = decide_sharing(each.facts);
    EXPECT_EQ(decision.shared, each.shared) << each.what;
    EXPECT_THAT(decision.reason, StartsWith(each.shared ? "shared: " : "private: ")) << each.what;
    EXPECT_THAT(decision.reason, HasSubstr(each.reason)) << each.what;
  }
}

TEST(Sharing, BelievesTheStrongerEvidence) {
  const std::vector<Case> cases = {
      automatic(
          "asks, though known", [](SharingFacts& f) { f.known = &kStateless, f.shown.conversational = true; },
          false, "asks its client questions"),
      automatic(
          "asks, though read-only",
          [](SharingFacts& f) { f.shown.read_only = true, f.shown.conversational = true; }, false,
          "asks its client questions"),
      automatic(
          "asks, though said to be stateless",
          [](SharingFacts& f) { f.stateless_by_configuration = true, f.shown.conversational = true; }, false,
          "asks its client questions"),
      automatic(
          "a browser, though read-only",
          [](SharingFacts& f) { f.known = &kBrowser, f.shown.read_only = true; }, false, "one browser"),
      automatic(
          "a browser, though modern", [](SharingFacts& f) { f.known = &kBrowser, f.era = Era::Modern; },
          false, "one browser"),
      automatic(
          "a browser, though said to be stateless",
          [](SharingFacts& f) { f.known = &kBrowser, f.stateless_by_configuration = true; }, false,
          "one browser"),
      automatic(
          "known, though it writes",
          [](SharingFacts& f) { f.known = &kStateless, f.shown.read_only = false; }, true,
          "it only reads the clock"),
      automatic(
          "modern, though it writes", [](SharingFacts& f) { f.era = Era::Modern, f.shown.read_only = false; },
          true, "no state per connection"),
      // One process speaks one era: what it can do in the other one does not count.
      automatic(
          "can be modern, is spoken to as legacy", [](SharingFacts& f) { f.shown.modern = true; }, false,
          "unknown until a session has listed them"),
      automatic(
          "spoken to as modern, is none",
          [](SharingFacts& f) { f.era = Era::Modern, f.shown.modern = false; }, false,
          "unknown until a session has listed them"),
  };
  for (const Case& each : cases) {
    const SharingDecision decision = decide_sharing(each.facts);
    EXPECT_EQ(decision.shared, each.shared) << each.what;
    EXPECT_THAT(decision.reason, HasSubstr(each.reason)) << each.what;
  }
}

TEST(Sharing, ConfirmsOnlyAnnotations) {
  for (unsigned mask = 0; mask < 8; ++mask) {
    SharingFacts facts = entry();
    facts.shown.read_only = true;
    if ((mask & 1) != 0) facts.known = &kStateless;
    if ((mask & 2) != 0) facts.stateless_by_configuration = true;
    if ((mask & 4) != 0) facts.era = Era::Modern;

    const SharingDecision decision = decide_sharing(facts);

    EXPECT_TRUE(decision.shared) << mask;
    EXPECT_EQ(decision.confirm_annotations, mask == 0) << mask;
  }
}

/// Every combination of what can be known.
template <class Visit>
void for_all_facts(Share wanted, Visit visit) {
  for (unsigned mask = 0; mask < 3 * 3 * 3 * 16; ++mask) {
    SharingFacts facts = entry();
    facts.wanted = wanted;
    const unsigned known = mask % 3;
    const unsigned read_only = mask / 3 % 3;
    const unsigned modern = mask / 9 % 3;
    const unsigned bits = mask / 27;
    if (known != 0) facts.known = known == 1 ? &kStateless : &kBrowser;
    if (read_only != 0) facts.shown.read_only = read_only == 1;
    if (modern != 0) facts.shown.modern = modern == 1;
    facts.shown.conversational = (bits & 1) != 0;
    facts.stateless_by_configuration = (bits & 2) != 0;
    facts.era = (bits & 4) != 0 ? Era::Modern : Era::Legacy;
    facts.from_configuration = (bits & 8) != 0;
    visit(facts);
  }
}

TEST(Sharing, DoesWhatTheUserSays) {
  for_all_facts(Share::Session, [](const SharingFacts& facts) {
    const SharingDecision decision = decide_sharing(facts);
    EXPECT_FALSE(decision.shared);
    EXPECT_EQ(decision.reason, "private: share is set to \"session\"");
    EXPECT_EQ(decision.hint, "");
  });
  for_all_facts(Share::Shared, [](const SharingFacts& facts) {
    const SharingDecision decision = decide_sharing(facts);
    EXPECT_TRUE(decision.shared);
    EXPECT_FALSE(decision.confirm_annotations);
    EXPECT_THAT(decision.reason, StartsWith("shared: share is set to \"shared\""));
    EXPECT_EQ(decision.hint, "");
  });
}

TEST(Sharing, SaysWhyWithOrWithoutTheWord) {
  for (const Sharing sharing : {Sharing::Shared, Sharing::Private}) {
    EXPECT_EQ(why_alone(reason_for(sharing, "by the file")), "by the file");
  }
  EXPECT_EQ(why_alone("of another version"), "of another version");
}

TEST(Sharing, SaysThatQuestionsWillBeRefused) {
  SharingFacts facts = entry();
  facts.wanted = Share::Shared;
  facts.shown.conversational = true;

  EXPECT_THAT(decide_sharing(facts).reason, HasSubstr("refusal"));
  facts.era = Era::Modern;
  EXPECT_EQ(decide_sharing(facts).reason, "shared: share is set to \"shared\"");
}

TEST(Sharing, SaysHowToShareExactlyIfItDoesNot) {
  for_all_facts(Share::Auto, [](const SharingFacts& facts) {
    const SharingDecision decision = decide_sharing(facts);
    EXPECT_EQ(decision.hint.empty(), decision.shared) << decision.reason;
    EXPECT_EQ(decision.reason.find('\n'), std::string::npos);
    EXPECT_THAT(decision.reason, StartsWith(decision.shared ? "shared: " : "private: "));
  });
}

TEST(Sharing, HintsAtTheEntryOrTheCommandLine) {
  SharingFacts facts = entry();
  EXPECT_EQ(decide_sharing(facts).hint, R"(to share it: "corral": {"share": "shared"} in the entry "files")");
  facts.from_configuration = false;
  EXPECT_EQ(decide_sharing(facts).hint, "to share it: corral connect --share shared -- COMMAND");
  facts.known = &kBrowser;
  EXPECT_THAT(decide_sharing(facts).hint, StartsWith("to share it all the same: "));
}

TEST(Sharing, HintShowsNoControlCharacters) {
  SharingFacts facts = entry();
  facts.server = "a\x1b[2J\nb";

  const std::string hint = decide_sharing(facts).hint;

  EXPECT_EQ(hint.find('\x1b'), std::string::npos);
  EXPECT_EQ(hint.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace corral::knowledge
