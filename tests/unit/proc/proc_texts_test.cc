#include "proc/proc_texts.h"

#include <gmock/gmock.h>

namespace corral::proc {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ProcTexts, NumbersAreTakenFromTheFront) {
  std::string_view text = "12 34";
  EXPECT_EQ(take_number(text), 12U);
  EXPECT_EQ(text, " 34");
  EXPECT_EQ(take_number(text), std::nullopt) << "a space is none";
  EXPECT_EQ(text, " 34");

  EXPECT_EQ(whole_number("18446744073709551615"), ~0ULL);
  for (const char* other : {"18446744073709551616", "", "-1", "+1", "1x", "x", " 1", "1 "}) {
    EXPECT_EQ(whole_number(other), std::nullopt) << other;
  }
  EXPECT_EQ(whole_number("0"), 0U);
}

TEST(ProcTexts, WordsAndLinesComeOneByOne) {
  std::string_view text = "  a\tbc \nd";
  EXPECT_EQ(take_word(text), "a");
  EXPECT_EQ(take_word(text), "bc");
  EXPECT_EQ(take_word(text), "d");
  EXPECT_EQ(take_word(text), "");

  text = "one\n\nthree";
  std::string_view line;
  ASSERT_TRUE(take_line(text, line));
  EXPECT_EQ(line, "one");
  ASSERT_TRUE(take_line(text, line));
  EXPECT_EQ(line, "");
  ASSERT_TRUE(take_line(text, line));
  EXPECT_EQ(line, "three");
  EXPECT_FALSE(take_line(text, line));
}

TEST(ProcTexts, AValueFollowsItsNameAndAColon) {
  const std::string_view text = "Uid\nUidx:\t1\n Uid:\t2\nUid:\t 3 4 \t\nUid:\t5\nEmpty:\nShort:x\nB: \t";
  EXPECT_EQ(value_of(text, "Uid"), "3 4");
  EXPECT_EQ(value_of(text, "Short"), "x");
  EXPECT_EQ(value_of(text, "Empty"), "");
  EXPECT_EQ(value_of(text, "B"), "");
  EXPECT_EQ(value_of(text, "None"), "");
}

TEST(ProcessStat, GivesEveryFieldItsMeaning) {
  const std::optional<ProcessStat> stat = parse_process_stat(
      "17 (node) R 4 5 6 34816 -1 4194304 1 2 3 4 50 60 7 8 20 0 9 0 4711 1000 100 18446744073709551615\n");

  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->pid, 17);
  EXPECT_EQ(stat->comm, "node");
  EXPECT_EQ(stat->state, 'R');
  EXPECT_EQ(stat->parent, 4);
  EXPECT_EQ(stat->group, 5);
  EXPECT_EQ(stat->session, 6);
  EXPECT_EQ(stat->terminal, 34816);
  EXPECT_EQ(stat->cpu_ticks, 110U);
  EXPECT_EQ(stat->start_ticks, 4711U);
  EXPECT_EQ(stat->threads, 9U);
  EXPECT_FALSE(stat->kernel_thread);
}

TEST(ProcessStat, KnowsAKernelThreadByItsFlag) {
  const auto stat = parse_process_stat("2 (kthreadd) S 0 0 0 0 -1 2129984 1 2 3 4 50 60 7 8 20 0 1 0 4711");

  ASSERT_TRUE(stat);
  EXPECT_TRUE(stat->kernel_thread);
}

TEST(ProcessStat, IsNotFooledByTheNameThatAProcessGivesItself) {
  const std::optional<ProcessStat> stat =
      parse_process_stat("17 (a) R 1 (b) S 4 5 6 0 -1 4194304 1 2 3 4 50 60 7 8 20 0 9 0 4711 1000\n");

  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->comm, "a) R 1 (b");
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->parent, 4);
  EXPECT_EQ(stat->start_ticks, 4711U);
}

TEST(ProcessStat, IsRefusedIfAFieldIsMissingOrNotANumber) {
  const std::string good = "17 (a) S 4 5 6 0 -1 1 1 2 3 4 50 60 7 8 20 0 9 0 4711";
  ASSERT_TRUE(parse_process_stat(good));

  EXPECT_FALSE(parse_process_stat(""));
  EXPECT_FALSE(parse_process_stat("17 (a"));
  EXPECT_FALSE(parse_process_stat("17 (a) S 4 5"));
  EXPECT_FALSE(parse_process_stat(")("));
  EXPECT_FALSE(parse_process_stat("x" + good));
  EXPECT_FALSE(parse_process_stat(good.substr(0, good.size() - 5)));  // no start time
  EXPECT_FALSE(parse_process_stat("99999999999" + good));             // no pid is that large
  EXPECT_FALSE(parse_process_stat("17 (a) S 99999999999" + good.substr(10)));
}

TEST(ProcessStat, TakesTheLargestNumbersAndNoLarger) {
  const auto parsed = [](const std::string& pid, const std::string& parent, const std::string& state = "S") {
    return parse_process_stat(pid + " (a) " + state + " " + parent +
                              " 5 6 0 -1 1 1 2 3 4 50 60 7 8 20 0 9 0 4711")
        .has_value();
  };
  EXPECT_TRUE(parsed("2147483647", "2147483647"));
  EXPECT_FALSE(parsed("2147483648", "4"));
  EXPECT_FALSE(parsed("17", "2147483648"));
  EXPECT_FALSE(parsed("17", "4", "SS"));
  EXPECT_FALSE(parsed("17", "4", ""));
  EXPECT_FALSE(parsed("17", "x"));

  const auto stat = parse_process_stat("17 () S -4 5 6 0 -1 1 1 2 3 4 50 60 7 8 20 0 9 0 4711");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->parent, 0) << "a negative number counts as 0";
  EXPECT_EQ(stat->comm, "");
  EXPECT_FALSE(parse_process_stat("17 a) S 4 5 6 0 -1 1 1 2 3 4 50 60 7 8 20 0 9 0 4711"));
}

TEST(Strings, EndInNul) {
  EXPECT_THAT(parse_strings(std::string("node\0server.js\0", 15)), ElementsAre("node", "server.js"));
  EXPECT_THAT(parse_strings(std::string("a\0\0b\0", 5)), ElementsAre("a", "", "b"));
  EXPECT_THAT(parse_strings(""), IsEmpty());
}

TEST(Strings, MayBeATitleWithoutItsNulOrWithManyMore) {
  EXPECT_THAT(parse_strings("nginx: worker"), ElementsAre("nginx: worker"));
  EXPECT_THAT(parse_strings(std::string("title\0\0\0\0\0", 10)), ElementsAre("title"));
  EXPECT_THAT(parse_strings(std::string(5, '\0')), IsEmpty());
}

TEST(InodeInLink, IsTheNumberOfThatKindOfLink) {
  EXPECT_EQ(inode_in_link("socket:[12]", "socket"), 12U);
  EXPECT_EQ(inode_in_link("pipe:[4294967295]", "pipe"), 4294967295U);
  EXPECT_EQ(inode_in_link("pipe:[12]", "socket"), std::nullopt);
  for (const char* other :
       {"", "socket", "socket:", "socket:[", "socket:]", "socket:[]", "socket:[12x]", "socket[12]",
        "socket:[-1]", "socket:[99999999999999999999]", "/tmp/socket:[12]", "anon_inode:[eventfd]"}) {
    EXPECT_EQ(inode_in_link(other, "socket"), std::nullopt) << other;
  }
}

}  // namespace
}  // namespace corral::proc
