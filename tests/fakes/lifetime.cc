#include "lifetime.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>

namespace corral::fakes {
namespace {

timespec now() {
  timespec value{};
  clock_gettime(CLOCK_MONOTONIC, &value);
  return value;
}

}  // namespace

Deadline Deadline::in_seconds(long seconds) {
  Deadline deadline{now()};
  deadline.at.tv_sec += seconds;
  return deadline;
}

bool Deadline::passed() const {
  const timespec value = now();
  return value.tv_sec > at.tv_sec || (value.tv_sec == at.tv_sec && value.tv_nsec >= at.tv_nsec);
}

// alarm() would not do: SIGALRM waits while the process is stopped, and a server may ignore it. A POSIX timer
// may carry SIGKILL (timer_create(2) only asks for a valid signal number).
void end_by_itself(const Deadline& deadline) {
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGKILL;
  timer_t timer{};
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) abort();
  itimerspec when{};
  when.it_value = deadline.at;
  if (timer_settime(timer, TIMER_ABSTIME, &when, nullptr) != 0) abort();
}

void idle_for_ever() {
  for (;;) pause();
}

void sleep_ms(long ms) {
  timespec left{ms / 1000, (ms % 1000) * 1'000'000};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

}  // namespace corral::fakes
