#include "survey/proc_files.h"

#include <fcntl.h>

#include <set>

#include "fake_proc.h"

namespace corral::survey {
namespace {

class ProcFiles : public FakeProc {
 protected:
  std::optional<std::string> whole(const std::string& name, std::size_t most) const {
    return read_whole(AT_FDCWD, (root() + "/" + name).c_str(), most);
  }
};

TEST_F(ProcFiles, AreReadWholeUpToABound) {
  const std::string text = std::string(65536, 'a') + std::string(65536, 'b') + "c";
  write("long", text);
  write("empty", "");

  EXPECT_EQ(whole("long", 1 << 20), text);
  EXPECT_EQ(whole("long", 65536), text.substr(0, 65536));
  EXPECT_EQ(whole("long", 65537), text.substr(0, 65537));
  EXPECT_EQ(whole("long", 131073), text);
  EXPECT_EQ(whole("long", 0), "");
  EXPECT_EQ(whole("empty", 10), "");
  EXPECT_EQ(whole("missing", 10), std::nullopt);
  EXPECT_EQ(whole("", 10), std::nullopt) << "a folder";
}

TEST_F(ProcFiles, AreReadOnceAsFarAsThereIsRoom) {
  write("file", "hello");
  write("empty", "");
  char buffer[4];
  const std::string path = root() + "/";

  EXPECT_EQ(read_once(AT_FDCWD, (path + "file").c_str(), buffer), "hell");
  EXPECT_EQ(read_once(AT_FDCWD, (path + "empty").c_str(), buffer), "");
  EXPECT_EQ(read_once(AT_FDCWD, (path + "missing").c_str(), buffer), std::nullopt);
  EXPECT_EQ(read_once(AT_FDCWD, path.c_str(), buffer), std::nullopt) << "a folder";
}

TEST_F(ProcFiles, LinksAreReadAndNotFollowed) {
  link("link", "pipe:[7]");

  EXPECT_EQ(read_link(AT_FDCWD, (root() + "/link").c_str()), "pipe:[7]");
  EXPECT_EQ(read_link(AT_FDCWD, (root() + "/missing").c_str()), "");
}

TEST_F(ProcFiles, NamesOfADirectoryComeEachOnce) {
  std::set<std::string> expected{".", ".."};
  for (int i = 0; i < 300; ++i) {  // more than fit into one read
    expected.insert("a-name-of-forty-letters-or-so-and-more-" + std::to_string(i));
  }
  for (const std::string& name : expected) {
    if (!name.starts_with(".")) write(name, "");
  }
  const UniqueFd directory = open_directory(AT_FDCWD, root().c_str());
  DirectoryNames names(directory.get());

  std::multiset<std::string> seen;
  for (const char* name = names.next(); name != nullptr; name = names.next()) seen.insert(name);

  EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()), expected);
  EXPECT_EQ(seen.size(), expected.size());
  EXPECT_EQ(names.next(), nullptr);
  EXPECT_EQ(DirectoryNames(-1).next(), nullptr);
}

TEST(ProcTexts, NumbersAreTakenFromTheFront) {
  std::string_view text = "12 34";
  EXPECT_EQ(take_number(text), 12U);
  EXPECT_EQ(text, " 34");
  EXPECT_EQ(take_number(text), std::nullopt) << "a blank is none";
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

TEST(ProcTexts, AValueStandsBehindItsNameAndColon) {
  const std::string_view text = "Uid\nUidx:\t1\n Uid:\t2\nUid:\t 3 4 \t\nUid:\t5\nEmpty:\nShort:x\nB: \t";
  EXPECT_EQ(value_of(text, "Uid"), "3 4");
  EXPECT_EQ(value_of(text, "Short"), "x");
  EXPECT_EQ(value_of(text, "Empty"), "");
  EXPECT_EQ(value_of(text, "B"), "");
  EXPECT_EQ(value_of(text, "None"), "");
}

}  // namespace
}  // namespace corral::survey
