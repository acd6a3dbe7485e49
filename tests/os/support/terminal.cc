#include "support/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cstdlib>

#include "support/eventually.h"

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

void Terminal::resize(int columns, int rows) {
  winsize size{};
  size.ws_col = static_cast<unsigned short>(columns);
  size.ws_row = static_cast<unsigned short>(rows);
  EXPECT_EQ(ioctl(master_, TIOCSWINSZ, &size), 0);
}

bool Terminal::shows(const std::string& text) {
  return eventually([&] {
    pollfd polled{master_, POLLIN, 0};
    char bytes[4096];
    if (poll(&polled, 1, 0) > 0) {
      const ssize_t got = read(master_, bytes, sizeof bytes);
      if (got > 0) screen_.append(bytes, static_cast<std::size_t>(got));
    }
    const std::size_t at = screen_.find(text);
    if (at == std::string::npos) return false;
    screen_.erase(0, at + text.size());
    return true;
  });
}

// Asked of the other end: of our own end the kernel tells only those whose terminal it is.
pid_t Terminal::foreground_group() const { return tcgetpgrp(master_); }

bool Terminal::is_cooked() const {
  termios modes{};
  return tcgetattr(slave_, &modes) == 0 && (modes.c_lflag & ICANON) != 0 && (modes.c_lflag & ECHO) != 0;
}

void Terminal::close_window() {
  if (slave_ >= 0) close(slave_);
  if (master_ >= 0) close(master_);
  slave_ = master_ = -1;
}

std::function<void()> as_foreground_job(const Terminal& terminal) {
  return [tty = terminal.slave()] {
    const pid_t job = fork();
    if (job == 0) {
      setpgid(0, 0);
      signal(SIGTTOU, SIG_IGN);
      tcsetpgrp(tty, getpid());
      signal(SIGTTOU, SIG_DFL);
      return;
    }
    close_range(0, ~0U, 0);
    alarm(60);
    int status = 0;
    waitpid(job, &status, 0);
    _exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
  };
}

}  // namespace corral::os_tests
