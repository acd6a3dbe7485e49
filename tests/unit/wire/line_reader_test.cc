#include "wire/line_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace corral::wire {
namespace {

using namespace std::string_literals;

constexpr std::size_t kKiB = 1024;

/// A reader with its scratch, fed as a descriptor would.
class Feed {
 public:
  explicit Feed(std::size_t cap, std::size_t scratch = 64 * kKiB) : reader(cap), scratch_(scratch) {}

  /// Everything, in reads of at most `piece` bytes.
  Feed& give(std::string_view bytes, std::size_t piece = SIZE_MAX) {
    while (!bytes.empty()) {
      const std::span<char> room = reader.room(scratch_);
      largest_room = std::max(largest_room, room.size());
      const std::size_t length = std::min({piece, room.size(), bytes.size()});
      memcpy(room.data(), bytes.data(), length);
      bytes.remove_prefix(length);
      reader.took(length);
      while (const std::optional<Line> line = reader.next()) {
        lines.emplace_back(line->text);
        owners.push_back(line->owner);
      }
      while (auto one = reader.take_oversized()) oversized.push_back(*one);
    }
    return *this;
  }
  /// The caller's scratch is offered exactly when no memory of the reader's own is needed.
  bool holds_memory() { return reader.room(scratch_).data() != scratch_.data(); }

  LineReader reader;
  std::vector<std::string> lines;
  std::vector<std::shared_ptr<const std::string>> owners;
  std::vector<Oversized> oversized;
  std::size_t largest_room = 0;

 private:
  std::vector<char> scratch_;
};

using Lines = std::vector<std::string>;

TEST(LineReader, CutsAtLineEndsAndSkipsEmptyLines) {
  Feed feed(100);
  feed.give("a\nbc\r\n\n\r\nd\r\re\n \n");

  EXPECT_EQ(feed.lines, (Lines{"a", "bc", "d\r\re", " "}));
  EXPECT_FALSE(feed.reader.has_partial());
}

TEST(LineReader, TakesOneReturnOnly) { EXPECT_EQ(Feed(100).give("a\r\r\n").lines, Lines{"a\r"}); }

TEST(LineReader, GivesTheSameLinesWhereverTheReadsEnd) {
  const std::string stream =
      "{\"jsonrpc\":\"2.0\",\"id\":1}\r\n\n{\"x\":\"ü\0\"}\nshort\n\r\nlast one\r\nrest"s;
  const Lines expected = {"{\"jsonrpc\":\"2.0\",\"id\":1}", "{\"x\":\"ü\0\"}"s, "short", "last one"};

  for (std::size_t first = 1; first < stream.size(); ++first) {
    for (std::size_t second = first; second < stream.size(); ++second) {
      Feed feed(100);
      feed.give(stream.substr(0, first))
          .give(stream.substr(first, second - first))
          .give(stream.substr(second));
      ASSERT_EQ(feed.lines, expected) << first << " " << second;
      EXPECT_TRUE(feed.reader.has_partial());
    }
  }
  for (std::size_t piece = 1; piece < stream.size(); ++piece) {
    EXPECT_EQ(Feed(100).give(stream, piece).lines, expected) << piece;
    EXPECT_EQ(Feed(100, piece).give(stream).lines, expected) << piece;
  }
}

TEST(LineReader, HoldsMemoryOnlyForALineThatHasBegun) {
  Feed feed(1000);
  EXPECT_FALSE(feed.holds_memory());
  feed.give("whole\n");
  EXPECT_FALSE(feed.holds_memory());
  feed.give("ha");
  EXPECT_TRUE(feed.holds_memory());
  EXPECT_TRUE(feed.reader.has_partial());
  feed.give("lf\n");
  EXPECT_FALSE(feed.holds_memory());
  EXPECT_FALSE(feed.reader.has_partial());
  EXPECT_EQ(feed.lines, (Lines{"whole", "half"}));
}

TEST(LineReader, HandsALargeLineOverWithItsBuffer) {
  const std::string large(300 * kKiB, 'x');
  Feed feed(1 << 20);
  feed.give("small\n" + large + "\nsmall\n" + large + "\nhalf");

  ASSERT_EQ(feed.lines, (Lines{"small", large, "small", large}));
  EXPECT_EQ(feed.owners[0], nullptr);
  ASSERT_NE(feed.owners[1], nullptr);
  EXPECT_EQ(feed.owners[2], nullptr);
  ASSERT_NE(feed.owners[3], nullptr);
  EXPECT_EQ(feed.owners[1]->substr(0, large.size()), large) << "still there after everything else came";
  EXPECT_TRUE(feed.reader.has_partial());
  EXPECT_EQ(feed.give("\n").lines.back(), "half");
  EXPECT_FALSE(feed.holds_memory());
}

TEST(LineReader, TextOfALargeLineIsInsideItsOwner) {
  LineReader reader(1 << 20);
  std::vector<char> scratch(1000);
  std::string stream = std::string(100 * kKiB, 'y') + "\n";
  std::optional<Line> line;
  for (std::string_view left = stream; !left.empty();) {
    const std::span<char> room = reader.room(scratch);
    const std::size_t length = std::min(room.size(), left.size());
    memcpy(room.data(), left.data(), length);
    left.remove_prefix(length);
    reader.took(length);
    line = reader.next();
  }

  ASSERT_TRUE(line);
  EXPECT_EQ(line->text.size(), 100 * kKiB);
  EXPECT_EQ(line->text.data(), line->owner->data());
  EXPECT_FALSE(reader.next());
  reader.forget_spare();
  EXPECT_EQ(line.value().owner.use_count(), 1) << "the reader has let go of it";
}

TEST(LineReader, AcceptsExactlyTheCap) {
  for (const char* end : {"\n", "\r\n"}) {
    for (std::size_t piece : {std::size_t{1}, std::size_t{3}, SIZE_MAX}) {
      Feed feed(8);
      feed.give("12345678"s + end + "123456789" + end + "1" + end, piece);

      EXPECT_EQ(feed.lines, (Lines{"12345678", "1"})) << piece;
      ASSERT_EQ(feed.oversized.size(), 1U) << piece;
      EXPECT_EQ(feed.oversized[0].bytes, 9U);
    }
  }
}

TEST(LineReader, DoesNotGrowBeyondTheCap) {
  constexpr std::size_t kCap = 1 << 20;
  Feed feed(kCap);
  feed.give(std::string(kCap, 'a') + "\n" + std::string(3 * kCap, 'b'));

  EXPECT_EQ(feed.lines.size(), 1U);
  EXPECT_LE(feed.largest_room, kCap + 64 * kKiB);
  EXPECT_FALSE(feed.holds_memory()) << "a line that is thrown away needs none";
  EXPECT_TRUE(feed.reader.has_partial());
  EXPECT_TRUE(feed.oversized.empty()) << "not before its end: the id may be last";
  feed.give("\nnext\n");
  ASSERT_EQ(feed.oversized.size(), 1U);
  EXPECT_EQ(feed.oversized[0].bytes, 3 * kCap);
  EXPECT_EQ(feed.lines.back(), "next");
}

TEST(LineReader, FindsTheIdOfALineThatIsTooLong) {
  const std::string filler = R"("x":[{"id":1,"a":"}]\"id\":2\\"},"id",":",{"id":[]}],)";
  const std::vector<std::pair<std::string, std::string>> rows = {
      {R"({"id":42,)" + filler + R"("y":1})", "42"},
      {"{" + filler + R"("id":"last"})", "\"last\""},
      {"{" + filler + "\"id\" : -1.5e3 \t}", "-1.5e3"},
      {"{" + filler + R"("\u0069d":"a\"\\b"})", R"("a\"\\b")"},
      {"{" + filler + R"("id":"}{],:"})", R"("}{],:")"},
      {"  {" + filler + R"("id":1} )", "1"},
      {"{" + filler + R"("ID":1,"ids":2,"i":3,"":4})", ""},
      {"{" + filler + R"("id":1,"id":1})", ""},
      {"{" + filler + R"("id":1,"i\u0064":2})", ""},
      {"{" + filler + R"("id":null})", ""},
      {"{" + filler + R"("id":true})", ""},
      {"{" + filler + R"("id":{"id":1}})", ""},
      {"{" + filler + R"("id":[1]})", ""},
      {"{" + filler + R"("id":01})", ""},
      {"{" + filler + R"("id":1 2})", ""},
      {"{" + filler + "\"id\":\"\xFF\"}", ""},
      {"{" + filler + R"("id":1)", ""},
      {R"({"id":1,)" + filler + R"("y":1)", ""},
      {"{" + filler + R"("id":1} x)", ""},
      {"[{" + filler + R"("id":1}])", ""},
      {"banner with \"id\":1 and so on, long enough to be too long", ""},
      {"{" + filler + R"("id":")" + std::string(5000, 'i') + "\"}", ""},
  };
  for (const auto& [line, id] : rows) {
    for (std::size_t piece : {std::size_t{1}, std::size_t{7}, SIZE_MAX}) {
      Feed feed(20);
      feed.give(line + "\r\nok\n", piece);

      EXPECT_EQ(feed.lines, Lines{"ok"});
      ASSERT_EQ(feed.oversized.size(), 1U) << line;
      EXPECT_EQ(feed.oversized[0].id, id) << line << " in pieces of " << piece;
      EXPECT_EQ(feed.oversized[0].bytes, line.size());
    }
  }
}

TEST(LineReader, TellsOfEveryLineThatWasTooLong) {
  Feed feed(4);
  feed.give("{\"id\":1}\nok\n{\"id\":2}\n{\"id\":3}\n");

  EXPECT_EQ(feed.lines, Lines{"ok"});
  ASSERT_EQ(feed.oversized.size(), 3U);
  EXPECT_EQ(feed.oversized[0].id, "1");
  EXPECT_EQ(feed.oversized[2].id, "3");
}

TEST(LineReader, MayBeAskedOftenerThanThereIsSomething) {
  Feed feed(100);
  feed.give("ha");
  EXPECT_FALSE(feed.reader.next());
  EXPECT_FALSE(feed.reader.take_oversized());
  EXPECT_FALSE(feed.reader.next());
  feed.holds_memory();  // room was asked and nothing came
  EXPECT_FALSE(feed.reader.next());
  feed.give("lf\n");

  EXPECT_EQ(feed.lines, Lines{"half"});
}

TEST(LineReader, ReadsATenMegabyteLine) {
  std::string large(10'000'000, 'x');
  for (std::size_t i = 0; i < large.size(); i += 1000) large[i] = static_cast<char>('a' + i / 1000 % 26);
  Feed feed(64 << 20);
  feed.give(large + "\nnext\n", 65536);

  ASSERT_EQ(feed.lines.size(), 2U);
  EXPECT_TRUE(feed.lines[0] == large);
  EXPECT_NE(feed.owners[0], nullptr);
  EXPECT_FALSE(feed.holds_memory());
}

TEST(LineReader, UsesABufferAgainWhenEverybodyHasLetGoOfIt) {
  const std::string large(1'000'000, 'a');
  const std::string other(900'000, 'b');
  Feed feed(64 << 20);
  feed.give(large + "\n", 65536);
  const char* const before = feed.owners[0]->data();
  feed.owners.clear();
  feed.give(other + "\nnext\n", 65536);

  EXPECT_TRUE(feed.reader.has_spare());
  EXPECT_TRUE(feed.lines[1] == other);
  EXPECT_EQ(feed.lines[2], "next");
  EXPECT_EQ(feed.owners[0]->data(), before);
}

TEST(LineReader, LeavesABufferAloneThatSomebodyStillHas) {
  const std::string large(1'000'000, 'a');
  const std::string other(900'000, 'b');
  Feed feed(64 << 20);
  feed.give(large + "\n", 65536);
  feed.give(other + "\n", 65536);

  EXPECT_TRUE(feed.owners[0]->starts_with(large));
  EXPECT_TRUE(feed.owners[1]->starts_with(other));
}

TEST(LineReader, DoesNotHandOutALargeBufferWithALineThatIsMuchSmaller) {
  const std::string large(4'000'000, 'a');
  const std::string smaller(100'000, 'b');
  Feed feed(64 << 20);
  feed.give(large + "\n", 65536);
  feed.owners.clear();
  feed.give(smaller + "\n", 65536);

  EXPECT_TRUE(feed.lines[1] == smaller);
  ASSERT_NE(feed.owners[0], nullptr);
  EXPECT_LT(feed.owners[0]->capacity(), large.size() / 4);
}

TEST(LineReader, LeavesALargeLineInAScratchThatHoldsAllOfIt) {
  Feed feed(64 << 20, 256 * kKiB);
  const std::string large(100 * kKiB, 'a');
  feed.give(large + "\nnext\n");

  EXPECT_EQ(feed.lines, (Lines{large, "next"}));
  EXPECT_EQ(feed.owners[0], nullptr);
}

TEST(LineReader, GivesTheSpareBufferBackWhenItIsTold) {
  Feed feed(64 << 20);
  feed.give(std::string(1'000'000, 'a') + "\n", 65536);
  const std::weak_ptr<const std::string> spare = feed.owners[0];
  feed.owners.clear();
  EXPECT_FALSE(spare.expired());
  feed.reader.forget_spare();
  EXPECT_TRUE(spare.expired());
  EXPECT_FALSE(feed.reader.has_spare());
}

TEST(LineReader, GoesOnLaterWithWhatWasHeld) {
  LineReader reader(64 * kKiB);
  std::vector<char> scratch(64 * kKiB);
  const auto give = [&](std::string_view bytes) {
    const std::span<char> room = reader.room(scratch);
    memcpy(room.data(), bytes.data(), bytes.size());
    reader.took(bytes.size());
  };

  give("one\ntwo\nthr");
  EXPECT_EQ(reader.next()->text, "one");
  reader.hold();
  std::fill(scratch.begin(), scratch.end(), '#');  // somebody else's bytes

  EXPECT_EQ(reader.next()->text, "two");
  EXPECT_FALSE(reader.next());
  give("ee\nfour\n");
  EXPECT_EQ(reader.next()->text, "three");
  reader.hold();
  std::fill(scratch.begin(), scratch.end(), '#');
  EXPECT_EQ(reader.next()->text, "four");
  EXPECT_FALSE(reader.next());
}

TEST(OversizedLine, TellsAnAnswerFromAQuestion) {
  const auto asks = [](std::string_view line) {
    OversizedLine passing;
    for (const char& byte : line) passing.feed({&byte, 1});
    return passing.asks();
  };
  EXPECT_TRUE(asks(R"({"id":1,"method":"a"})"));
  EXPECT_TRUE(asks(R"({"\u006d\u0065\u0074\u0068\u006f\u0064":"a","id":1})"));
  EXPECT_FALSE(asks(R"({"id":1,"result":{"method":"a"}})"));
  EXPECT_FALSE(asks(R"({"id":1,"result":"\"method\":1"})"));
}

TEST(OversizedLine, FindsWhoseAnswerABrokenLineWas) {
  EXPECT_EQ(answered_id("{\"jsonrpc\":\"2.0\",\"result\":{\"text\":\"caf\xe9\"},\"id\":7}"), "7");
  EXPECT_EQ(answered_id(R"({"id":"7","result":)" + std::string(600, '[') + std::string(600, ']') + "}"),
            "\"7\"");
  EXPECT_EQ(answered_id(R"({"jsonrpc":"2.0","id":7})"), "7");
  EXPECT_EQ(answered_id(R"({"id":7,"error": {"code":1}})"), "7");
  EXPECT_EQ(answered_id(R"({"id":7,"\u006a\u0073\u006f\u006e\u0072\u0070\u0063":"1.0"})"), "7");
  EXPECT_EQ(answered_id(R"({"id":7,"result":[1,{"id":8},"]}\"{"]})"), "7");
  for (const char* line :
       {R"({"id":7,"method":"roots/list")", "{\"id\":7,\"method\":\"\xe9\"}", "Listening on 7",
        R"({"id":7,"id":8,"result":{}})", R"({"result":{"id":7}})", R"([{"id":7}])", ""}) {
    EXPECT_EQ(answered_id(line), "") << line;
  }
}

TEST(OversizedLine, DoesNotTakeARecordOfALogForAnAnswer) {
  for (const char* line : {R"({"level":30,"id":7,"msg":"x"})", R"({"id":7})", "{\"id\":7,\"msg\":\"\xe9\"}",
                           R"({"id":7,"data":{"jsonrpc":"2.0","result":{}}})", R"({"id":7,"msg":"result"})",
                           R"({"level":"error","msg":"retrying","id":7,"error":"temporary"})",
                           R"({"id":7,"result": "ok"})", R"({"id":7,"error":null,"msg":{}})"}) {
    EXPECT_EQ(answered_id(line), "") << line;
  }
}

}  // namespace
}  // namespace corral::wire
