// A pipe for tests of what watches one.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/unique_fd.h"

namespace corral::tests {

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

inline Pipe make_pipe() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

}  // namespace corral::tests
