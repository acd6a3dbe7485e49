#include "support/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <cstdlib>

namespace corral::os_tests {

Terminal::Terminal() {
  if (openpty(&master_, &slave_, nullptr, nullptr, nullptr) != 0) std::abort();
  fcntl(master_, F_SETFD, FD_CLOEXEC);
  fcntl(slave_, F_SETFD, FD_CLOEXEC);
}

Terminal::~Terminal() { close_window(); }

void Terminal::type(const std::string& keys) {
  EXPECT_EQ(write(master_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
}

void Terminal::close_window() {
  if (slave_ >= 0) close(slave_);
  if (master_ >= 0) close(master_);
  slave_ = master_ = -1;
}

}  // namespace corral::os_tests
