// Sessions of all kinds in any order, servers that answer, log, report, ask, change and crash in any order:
// nothing of one session ever reaches another, every call that is wanted has one answer, and no server sees a
// call that was taken back before it was sent.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "crosstalk/world.h"

namespace corral::crosstalk {
namespace {

constexpr std::size_t kStepsOfAnEpisode = 250;

/// CROSSTALK_STEPS and CROSSTALK_SEED: how long, and where to begin.
std::size_t number_from(const char* variable, std::size_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::string run_episode(std::uint32_t seed, Deeds& deeds) {
  World world(seed, deeds);
  for (std::size_t step = 0; step < kStepsOfAnEpisode && world.ledger().faults().empty(); ++step)
    world.step();
  if (world.ledger().faults().empty()) world.finish();
  if (world.ledger().faults().empty()) return "";
  return "CROSSTALK_SEED=" + std::to_string(seed) +
         " CROSSTALK_STEPS=1 shows it again: " + world.ledger().faults().front() + "\nThe last steps:\n" +
         world.ledger().trace();
}

void expect_that_it_happened(const Deeds& deeds) {
  EXPECT_GT(deeds.answers, 0U);
  EXPECT_GT(deeds.cancelled_unsent, 0U);
  EXPECT_GT(deeds.log_lines, 0U);
  EXPECT_GT(deeds.progress, 0U);
  EXPECT_GT(deeds.questions, 0U);
  EXPECT_GT(deeds.refused_questions, 0U);
  EXPECT_GT(deeds.list_changes, 0U);
  EXPECT_GT(deeds.late_words, 0U);
  EXPECT_GT(deeds.words_after_answers, 0U);
  EXPECT_GT(deeds.crowds, 0U);
  EXPECT_GT(deeds.crashes, 0U);
  EXPECT_GT(deeds.same_address, 0U);
}

TEST(Crosstalk, NothingOfOneSessionEverReachesAnother) {
  const std::size_t steps = number_from("CROSSTALK_STEPS", 20'000);
  auto seed = static_cast<std::uint32_t>(number_from("CROSSTALK_SEED", 1));
  std::cout << "CROSSTALK_SEED=" << seed << " CROSSTALK_STEPS=" << steps << std::endl;
  Deeds deeds;
  for (std::size_t done = 0; done < steps; done += kStepsOfAnEpisode, ++seed) {
    const std::string fault = run_episode(seed, deeds);
    ASSERT_TRUE(fault.empty()) << fault;
  }
  if (steps >= 20'000) expect_that_it_happened(deeds);
  std::cout << "sessions " << deeds.sessions << ", calls " << deeds.calls << ", answers " << deeds.answers
            << ", cancelled " << deeds.cancelled << " (unsent " << deeds.cancelled_unsent << "), log lines "
            << deeds.log_lines << ", progress " << deeds.progress << ", questions " << deeds.questions
            << " (refused " << deeds.refused_questions << "), list changes " << deeds.list_changes
            << ", late words " << deeds.late_words << ", after the answer " << deeds.words_after_answers
            << ", in crowds " << deeds.crowds << ", instances " << deeds.instances << ", crashes "
            << deeds.crashes << ", at an address used before " << deeds.same_address << "\n";
}

}  // namespace
}  // namespace corral::crosstalk
