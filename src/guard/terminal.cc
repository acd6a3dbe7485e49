#include "guard/terminal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace corral::guard {
namespace {

/// Whether a standard descriptor is connected to another process of a pipeline.
bool is_pipe(int fd) {
  struct stat status {};
  return fstat(fd, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

bool in_pipeline() { return is_pipe(STDIN_FILENO) || is_pipe(STDOUT_FILENO) || is_pipe(STDERR_FILENO); }

/// A shell with job control puts each job into its own group and stays in another one.
bool below_job_control() {
  const pid_t parent = getppid();
  return getpgrp() == getpid() && getsid(parent) == getsid(0) && getpgid(parent) != getpgrp();
}

std::optional<termios> modes_of(int fd) {
  termios modes{};
  if (fd < 0 || tcgetattr(fd, &modes) != 0) return std::nullopt;
  return modes;
}

}  // namespace

Terminal::Terminal() : fd_(open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)) {
  // In a pipeline, another process may be changing the modes.
  if (in_foreground() && !in_pipeline()) at_start_ = modes_of(fd_.get());
}

bool Terminal::in_foreground() const { return fd_.valid() && tcgetpgrp(fd_.get()) == getpgrp(); }

bool Terminal::lendable() const { return in_foreground() && !in_pipeline() && below_job_control(); }

void Terminal::lend(pid_t group) {
  if (of_client_) tcsetattr(fd_.get(), TCSADRAIN, &*of_client_);
  of_client_.reset();
  lent_ = tcsetpgrp(fd_.get(), group) == 0;
}

void Terminal::take_back(Modes modes) {
  if (!lent_) return;
  if (modes == Modes::Remember) of_client_ = modes_of(fd_.get());
  tcsetpgrp(fd_.get(), getpgrp());
  lent_ = false;
}

void Terminal::restore_modes() const {
  if (at_start_ && in_foreground()) tcsetattr(fd_.get(), TCSADRAIN, &*at_start_);
}

}  // namespace corral::guard
