#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "serve/start.h"

namespace corral::serve {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(NullDevice, IsThereOnAnyUsualMachine) { EXPECT_TRUE(check_null_device()); }

TEST(NullDevice, ThatIsMissingIsNamedWithWhatToDo) {
  const std::string missing = testing::TempDir() + "no/dev/null";

  const Result<void> found = check_null_device(missing);

  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, AllOf(HasSubstr("'" + missing + "': No such file"), HasSubstr("mknod")));
}

}  // namespace
}  // namespace corral::serve
