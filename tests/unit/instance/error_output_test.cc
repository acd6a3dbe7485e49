#include "instance/error_output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>

#include "base/test_pipe.h"

namespace corral::instance {
namespace {

using tests::make_pipe;
using tests::Pipe;

// A server that came back was not heard any more: the stderr of the one before it had ended, its number had
// gone to a pipe of the new one, and the old watch took the new one's place in the kernel with it.
TEST(ErrorOutput, LeavesTheNextOwnerOfItsNumberAlone) {
  Loop loop;
  Pipe old = make_pipe();
  const int number = old.read.get();
  auto output = std::make_unique<ErrorOutput>(loop, std::move(old.read), [](std::string_view) {});
  old.write.reset();
  loop.run_due();

  const Pipe next = make_pipe();
  ASSERT_EQ(next.read.get(), number) << "nothing to see: the number was not free";
  Watch watch(loop, next.read.get());
  bool heard = false;
  watch.when_readable([&heard] { heard = true; });
  loop.run_due();
  output.reset();
  ASSERT_EQ(write(next.write.get(), "x", 1), 1);
  loop.run_due();

  EXPECT_TRUE(heard);
}

}  // namespace
}  // namespace corral::instance
