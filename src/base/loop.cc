#include "base/loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace corral {

using std::chrono::ceil;
using std::chrono::milliseconds;

namespace {

constexpr int kEventsPerTurn = 128;
constexpr std::size_t kSpareTasks = 256;
constexpr milliseconds kLongestSleep = std::chrono::hours(1);       // far from where an int ends
constexpr auto kLongestTimer = std::chrono::hours(24 * 365 * 100);  // sums with it stay in range
constexpr std::uint32_t kTrouble = EPOLLHUP | EPOLLERR;             // reported even to who did not ask

int must_open(int fd) {
  if (fd < 0) throw std::system_error(errno, std::generic_category(), "no descriptor for the event loop");
  return fd;
}

// An event says whose it is: the descriptor, and the number of the entry.
std::uint64_t name_of(int fd, std::uint32_t number) {
  return std::uint64_t{number} << 32U | static_cast<std::uint32_t>(fd);
}
int fd_in(std::uint64_t name) { return static_cast<int>(name & 0xffffffffU); }
std::uint32_t number_in(std::uint64_t name) { return static_cast<std::uint32_t>(name >> 32U); }

}  // namespace

// ---- Loop

Loop::Loop()
    : epoll_(must_open(epoll_create1(EPOLL_CLOEXEC))),
      alarm_(must_open(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = name_of(alarm_.get(), 0);
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, alarm_.get(), &event) != 0) must_open(-1);
}

// What a forgotten task holds may have watches and timers of its own, which say goodbye to us.
Loop::~Loop() {
  while (!tasks_.empty()) std::exchange(tasks_, {}).clear();
}

void Loop::run() {
  while (!stopped_) turn(true);
}

void Loop::run_due() {
  while (!stopped_ && turn(false)) continue;
}

void Loop::post(Task task) {
  {
    const std::lock_guard guard(mutex_);
    tasks_.push_back(std::move(task));
  }
  if (!asleep_.exchange(false)) return;
  const std::uint64_t once = 1;
  [[maybe_unused]] const ssize_t written = write(alarm_.get(), &once, sizeof once);
}

/// Whether anybody was called.
bool Loop::turn(bool may_sleep) {
  std::array<epoll_event, kEventsPerTurn> events;
  const int timeout = wants_sleep(may_sleep) ? until_next_timer() : 0;
  ++turns_;
  const int count = epoll_wait(epoll_.get(), events.data(), kEventsPerTurn, timeout);
  asleep_ = false;
  now_ = Clock::now();
  in_turn_ = true;
  bool called = false;
  for (int i = 0; i < count && !stopped_; ++i) called |= dispatch(events[static_cast<std::size_t>(i)]);
  called |= run_timers();
  called |= run_tasks();
  in_turn_ = false;
  return called;
}

/// Whoever posts a task after this has to wake us.
bool Loop::wants_sleep(bool may_sleep) {
  const std::lock_guard guard(mutex_);
  asleep_ = may_sleep && tasks_.empty();
  return asleep_;
}

int Loop::until_next_timer() const {
  if (timers_.empty()) return -1;
  const auto left = ceil<milliseconds>(timers_.begin()->first - Clock::now());
  return static_cast<int>(std::clamp(left, milliseconds::zero(), kLongestSleep).count());
}

bool Loop::dispatch(const epoll_event& event) {
  const int fd = fd_in(event.data.u64);
  const std::uint32_t number = number_in(event.data.u64);
  if (fd == alarm_.get()) {
    std::uint64_t rings = 0;
    [[maybe_unused]] const ssize_t taken = read(fd, &rings, sizeof rings);
    return false;
  }
  Watch* const watch = find(fd, number);
  if (!watch) return false;
  const bool called = watch->tell(event.events, turns_);
  if (Watch* const left = find(fd, number)) left->settle(event.events, called);
  return called;
}

bool Loop::run_timers() {
  bool called = false;
  while (!stopped_ && !timers_.empty() && timers_.begin()->first <= now_) {
    const Task task = std::exchange(timers_.begin()->second->task_, nullptr);
    timers_.erase(timers_.begin());
    task();
    called = true;
  }
  return called;
}

bool Loop::run_tasks() {
  std::vector<Task> due;
  {
    const std::lock_guard guard(mutex_);
    due.swap(tasks_);
    tasks_.swap(spare_);
  }
  for (Task& posted : due) {
    if (stopped_) break;
    const Task task = std::move(posted);  // what it holds goes with it
    task();
  }
  const bool called = !due.empty();
  due.clear();
  if (due.capacity() <= kSpareTasks) spare_.swap(due);
  return called;
}

std::uint32_t Loop::enter(int fd, Watch& watch) {
  const auto at = static_cast<std::size_t>(fd);
  if (at >= entries_.size()) entries_.resize(at + 1);
  if (++last_number_ == 0) ++last_number_;
  entries_[at] = {&watch, last_number_};
  return last_number_;
}

Watch* Loop::find(int fd, std::uint32_t number) const {
  const Entry& entry = entries_[static_cast<std::size_t>(fd)];
  return entry.number == number ? entry.watch : nullptr;
}

// ---- Watch
//
// Reports come as long as they are true. The kernel is not told each time that somebody waits or has been
// called: who was called for reading will most often wait for more, so this stays asked for until a report
// finds nobody.

Watch::~Watch() { leave(); }

void Watch::when_readable(Task task) { wait(readable_, std::move(task)); }
void Watch::when_writable(Task task) { wait(writable_, std::move(task)); }
void Watch::when_broken(Task task) { wait(broken_, std::move(task)); }

void Watch::wait(Wait& wait, Task task) {
  const Task forgotten = std::exchange(wait.task, std::move(task));
  wait.since = loop_.turns_;
  if (number_ == 0 || (wanted() & ~interest_) != 0) ask_kernel(interest_ | wanted());
}

void Watch::cancel() {
  // They may hold the last hold of our owner, so they go when we are no longer needed.
  const std::array forgotten = {std::exchange(readable_.task, nullptr),
                                std::exchange(writable_.task, nullptr), std::exchange(broken_.task, nullptr)};
}

std::uint32_t Watch::wanted() const {
  return (readable_.task ? EPOLLIN : 0U) | (writable_.task ? EPOLLOUT : 0U);
}

void Watch::ask_kernel(std::uint32_t events) {
  const int operation = number_ == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  if (number_ == 0) number_ = loop_.enter(fd_, *this);
  epoll_event event{};
  event.events = events;
  event.data.u64 = name_of(fd_, number_);
  if (epoll_ctl(loop_.epoll_.get(), operation, fd_, &event) == 0) {
    interest_ = events;
    return;
  }
  // A file is always ready, and whoever uses a descriptor that cannot be watched will find out what is wrong.
  loop_.post([&loop = loop_, fd = fd_, number = number_] {
    if (Watch* const watch = loop.find(fd, number)) watch->tell(EPOLLIN | EPOLLOUT, loop.turns_ + 1);
  });
}

/// Calls those who wait for these events since before that turn: what was reported may have been dealt with
/// before a later one began to wait. Whether anybody was called; he may have destroyed us.
bool Watch::tell(std::uint32_t events, std::uint64_t begun_before) {
  struct Kind {
    Wait Watch::*wait;
    std::uint32_t events;
  };
  static constexpr std::array kKinds = {Kind{&Watch::broken_, 0}, Kind{&Watch::writable_, EPOLLOUT},
                                        Kind{&Watch::readable_, EPOLLIN}};
  Loop& loop = loop_;
  const int fd = fd_;
  const std::uint32_t number = number_;
  bool called = false;
  for (const Kind& kind : kKinds) {
    Wait& wait = this->*kind.wait;
    if (!wait.task || wait.since >= begun_before || (events & (kind.events | kTrouble)) == 0) continue;
    const Task task = std::exchange(wait.task, nullptr);
    task();
    called = true;
    if (loop.stopped_ || !loop.find(fd, number)) break;
  }
  return called;
}

/// Reports that nobody takes must not come for ever.
void Watch::settle(std::uint32_t events, bool called) {
  if (!called && (events & kTrouble) != 0 && !readable_.task && !writable_.task && !broken_.task)
    return leave();
  const std::uint32_t likely = called ? EPOLLIN : EPOLLIN & ~events;
  const std::uint32_t keep = wanted() | (interest_ & likely);
  if (keep != interest_) ask_kernel(keep);
}

void Watch::leave() {
  if (number_ == 0) return;
  epoll_ctl(loop_.epoll_.get(), EPOLL_CTL_DEL, fd_, nullptr);
  if (loop_.find(fd_, number_)) loop_.entries_[static_cast<std::size_t>(fd_)].watch = nullptr;
  number_ = interest_ = 0;
}

// ---- Timer

void Timer::start(Clock::duration after, Task task) {
  const Task forgotten = std::exchange(task_, std::move(task));
  if (forgotten) loop_.timers_.erase(at_);
  at_ = loop_.timers_.emplace(Clock::now() + std::min<Clock::duration>(after, kLongestTimer), this);
}

void Timer::cancel() {
  if (!task_) return;
  const Task forgotten = std::exchange(task_, nullptr);  // may hold the last hold of our owner
  loop_.timers_.erase(at_);
}

}  // namespace corral
