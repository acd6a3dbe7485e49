#include "keeper/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "proc/plan_bytes.h"

namespace corral::keeper {
namespace {

using testing::ElementsAre;

std::vector<char> sample() {
  PlanHeader header;
  memcpy(header.instance, "0123456789abcdef0123456789abcdef", kInstanceIdLength + 1);
  header.owner = 42;
  proc::PlanStrings strings;
  strings.executable = "/usr/bin/node";
  strings.directory = "/srv";
  strings.argv = {"node", "", "a b"};
  strings.terminators = {{TerminatorKind::Container, {"/bin/sh", "-c", "rm"}},
                         {TerminatorKind::OnStop, {"/bin/true"}}};
  return proc::plan_bytes(header, strings);
}

bool parse(const std::vector<char>& bytes, std::vector<char*>& pointers, Plan& plan) {
  pointers.assign(plan_pointers(bytes.data(), bytes.size()), nullptr);
  return parse_plan(bytes.data(), bytes.size(), pointers.data(), plan);
}

std::vector<std::string> strings_of(char** list) {
  std::vector<std::string> result;
  for (; *list != nullptr; ++list) result.emplace_back(*list);
  return result;
}

TEST(Plan, ComesOutAsItWentIn) {
  const std::vector<char> bytes = sample();
  std::vector<char*> pointers;
  Plan plan;

  ASSERT_TRUE(parse(bytes, pointers, plan));

  EXPECT_STREQ(plan.executable, "/usr/bin/node");
  EXPECT_STREQ(plan.directory, "/srv");
  EXPECT_STREQ(plan.cgroup, "");
  EXPECT_EQ(plan.header.owner, 42);
  EXPECT_STREQ(plan.header.instance, "0123456789abcdef0123456789abcdef");
  EXPECT_THAT(strings_of(plan.arguments), ElementsAre("node", "", "a b"));
  EXPECT_EQ(plan.arguments[-1], nullptr);  // room for a shell
  EXPECT_THAT(strings_of(plan.terminator[0]), ElementsAre("/bin/sh", "-c", "rm"));
  EXPECT_THAT(strings_of(plan.terminator[1]), ElementsAre("/bin/true"));
}

TEST(Plan, RefusesEveryTruncation) {
  const std::vector<char> whole = sample();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::vector<char> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    std::vector<char*> pointers;
    Plan plan;
    EXPECT_FALSE(parse(cut, pointers, plan)) << size;
  }
}

TEST(Plan, RefusesMoreStringsThanItNames) {
  std::vector<char> bytes = sample();
  PlanHeader header;
  memcpy(static_cast<void*>(&header), bytes.data(), sizeof header);
  bytes.push_back('x');
  bytes.push_back('\0');
  header.size = static_cast<std::uint32_t>(bytes.size());
  memcpy(bytes.data(), &header, sizeof header);
  std::vector<char*> pointers;
  Plan plan;

  EXPECT_FALSE(parse(bytes, pointers, plan));
}

TEST(Plan, OfAnotherBuildIsRefusedWhateverItsLayout) {
  std::vector<char> bytes = sample();
  const std::uint64_t other = PlanHeader::kMagic ^ 1;
  memcpy(bytes.data(), &other, sizeof other);
  std::vector<char*> pointers;
  Plan plan;

  EXPECT_FALSE(parse(bytes, pointers, plan));
}

TEST(Plan, AllowsItsEndTheSumOfItsGraces) {
  PlanHeader header;
  const Micros plain = longest_end(header);
  header.terminators = 2;

  EXPECT_GT(plain, header.graces.term + header.graces.nested + header.graces.kill);
  EXPECT_EQ(longest_end(header), plain + 2 * (header.terminator_time + header.graces.kill));
}

TEST(Plan, AllowsASecondMoreForTheReaderOfTheReport) {
  PlanHeader header;
  header.graces.hasty = Micros(1);
  header.graces.term = Micros(20);
  header.graces.nested = Micros(300);
  header.graces.kill = Micros(4000);

  EXPECT_EQ(longest_end(header), Micros(1'004'321));
}

TEST(Plan, IsSealedSoThatNobodyCanChangeItAndReadFromItsFile) {
  const std::vector<char> bytes = sample();
  const Result<UniqueFd> file = proc::seal(bytes);
  ASSERT_TRUE(file);
  Plan plan;

  ASSERT_TRUE(load_plan(file->get(), plan));

  EXPECT_STREQ(plan.executable, "/usr/bin/node");
  EXPECT_THAT(strings_of(plan.arguments), ElementsAre("node", "", "a b"));
  EXPECT_THAT(strings_of(plan.terminator[1]), ElementsAre("/bin/true"));
  EXPECT_EQ(pwrite(file->get(), "x", 1, 0), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(ftruncate(file->get(), 1), -1);
  EXPECT_EQ(ftruncate(file->get(), 100'000), -1);
}

TEST(Plan, IsNotReadFromAFileThatHoldsNone) {
  const Result<UniqueFd> empty = proc::seal({});
  const Result<UniqueFd> other = proc::seal(std::vector<char>(4096, 'x'));
  ASSERT_TRUE(empty && other);
  Plan plan;

  EXPECT_FALSE(load_plan(empty->get(), plan));
  EXPECT_FALSE(load_plan(other->get(), plan));
  EXPECT_FALSE(load_plan(-1, plan));
}

TEST(Plan, IsSeenByItsOwnerAsTheKeeperSeesIt) {
  const std::vector<char> bytes = sample();
  std::vector<char*> pointers;

  const Plan plan = proc::read_plan(bytes, pointers);

  EXPECT_EQ(plan.header.terminators, 2U);
  EXPECT_EQ(plan.header.terminator_kind[0], TerminatorKind::Container);
  EXPECT_EQ(plan.header.terminator_kind[1], TerminatorKind::OnStop);
  EXPECT_THAT(strings_of(plan.terminator[0]), ElementsAre("/bin/sh", "-c", "rm"));
}

TEST(Plan, RefusesCountsThatMakeNoSense) {
  for (const auto& spoil : std::vector<void (*)(PlanHeader&)>{
           [](PlanHeader& header) { header.magic = 1; },
           [](PlanHeader& header) { header.arguments = 0; },
           [](PlanHeader& header) { header.arguments = 0xffffffff; },
           [](PlanHeader& header) { header.terminators = kTerminators + 1; },
           [](PlanHeader& header) { header.terminator_arguments[0] = 0; },
           [](PlanHeader& header) { header.terminator_arguments[1] = 0; },
           [](PlanHeader& header) { header.terminator_arguments[0] = (1U << 20) + 1; },
           [](PlanHeader& header) { header.arguments = (1U << 20) + 1; },
           [](PlanHeader& header) { ++header.size; },
           [](PlanHeader& header) { header.instance[kInstanceIdLength] = 'x'; },
       }) {
    std::vector<char> bytes = sample();
    PlanHeader header;
    memcpy(static_cast<void*>(&header), bytes.data(), sizeof header);
    spoil(header);
    memcpy(bytes.data(), &header, sizeof header);

    EXPECT_EQ(plan_pointers(bytes.data(), bytes.size()), 0U);
  }
}

TEST(Plan, NeedsAPointerForEachArgumentAndForTheEndOfEachList) {
  const std::vector<char> bytes = sample();
  EXPECT_EQ(plan_pointers(bytes.data(), bytes.size()), (1U + 3U + 1U) + (3U + 1U) + (1U + 1U));
}

}  // namespace
}  // namespace corral::keeper
