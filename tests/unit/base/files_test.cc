#include "base/files.h"

#include <gtest/gtest.h>

#include "survey/temp_files.h"

namespace corral {
namespace {

class ReadText : public survey::TempFiles {};

TEST_F(ReadText, GivesAllOfAFile) {
  for (const std::size_t size : {0, 1, 4095, 4096, 4097, 100'000}) {
    std::string text(size, 'x');
    if (size > 0) text.back() = 'y';
    write(root() + "/file", text);
    EXPECT_TRUE(read_text(root() + "/file") == text) << size;
  }
}

TEST_F(ReadText, StopsAfterAMebibyte) {
  write(root() + "/file", std::string((std::size_t{1} << 20) + 1, 'x'));
  EXPECT_EQ(read_text(root() + "/file").size(), std::size_t{1} << 20);
}

TEST_F(ReadText, GivesNothingOfWhatCannotBeRead) {
  EXPECT_EQ(read_text(root() + "/missing"), "");
  EXPECT_EQ(read_text(root()), "");
}

}  // namespace
}  // namespace corral
