#include "base/loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <iterator>
#include <system_error>
#include <utility>

namespace corral {

using std::chrono::ceil;
using std::chrono::milliseconds;

namespace {

constexpr int kEventsPerTurn = 128;
constexpr std::size_t kSpareTasks = 256;
constexpr milliseconds kShare{20};      // of one turn, for events, timers and tasks each
constexpr milliseconds kTick{10};       // the kernel's longest tick
constexpr milliseconds kSampleAge{10};  // of the thread's CPU time, which costs a system call to read
constexpr milliseconds kLongestSleep = std::chrono::hours(1);  // well within the range of int
constexpr auto kLongestTimer =
    std::chrono::hours(24 * 365 * 100);                  // deadlines computed with it stay in range
constexpr std::uint32_t kTrouble = EPOLLHUP | EPOLLERR;  // reported even if not requested

int must_open(int fd) {
  if (fd < 0) throw std::system_error(errno, std::generic_category(), "cannot create the event loop");
  return fd;
}

// The data of an event identifies the descriptor and the number of its entry.
std::uint64_t name_of(int fd, std::uint32_t number) {
  return std::uint64_t{number} << 32U | static_cast<std::uint32_t>(fd);
}
std::chrono::nanoseconds thread_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
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

// Destroying a task may destroy watches and timers, which unregister themselves here and may post more tasks.
Loop::~Loop() {
  while (!tasks_.empty()) std::exchange(tasks_, {}).clear();
}

void Loop::run() {
  while (!stopped_) turn(Sleep::Allowed);
}

void Loop::run_due() {
  while (!stopped_ && turn(Sleep::No)) continue;
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

/// Returns whether any callback ran.
bool Loop::turn(Sleep sleep) {
  std::array<epoll_event, kEventsPerTurn> events;
  const int timeout = wants_sleep(sleep) ? until_next_timer() : 0;
  ++turns_;
  const int count = epoll_wait(epoll_.get(), events.data(), kEventsPerTurn, timeout);
  asleep_ = false;
  begin_turn();
  bool called = run_events({events.data(), static_cast<std::size_t>(std::max(count, 0))});
  called |= run_timers();
  called |= run_tasks();
  end_turn();
  return called;
}

// ---- time taken by a turn

void Loop::begin_turn() {
  now_ = returned_ = Clock::now();
  in_turn_ = true;
  calls_ = 0;
  longest_ = {};
  if (now_ - sampled_ < kSampleAge) return;
  sampled_ = now_;
  cpu_ = thread_time();
}

void Loop::returned(const char* kind) {
  const Clock::time_point now = Clock::coarse_now();  // coarse, because it is read after each callback
  const Clock::duration took = now - returned_;
  returned_ = now;
  ++calls_;
  if (took > longest_) {
    longest_ = took;
    longest_work_ = work_.what != nullptr ? work_ : Work{kind, 1, 0};
  }
  work_ = {};
}

bool Loop::used_up(Clock::time_point since) const { return returned_ - since > kShare; }

/// Reads the CPU time only after a turn that took long in wall time. The CPU time used between the sample and
/// the turn cannot exceed the time between them.
void Loop::end_turn() {
  in_turn_ = false;
  if (returned_ - now_ <= kSlowTurn - kTick || !told_slow_) return;
  const Clock::duration wall = Clock::now() - now_;
  const auto used = thread_time() - cpu_ - (now_ - sampled_);
  if (used <= kSlowTurn) return;
  told_slow_({std::chrono::duration_cast<milliseconds>(used), std::chrono::duration_cast<milliseconds>(wall),
              calls_, longest_work_});
}

// ---- running what is due

/// A thread that posts a task after this must wake the loop.
bool Loop::wants_sleep(Sleep sleep) {
  const std::lock_guard guard(mutex_);
  asleep_ = sleep == Sleep::Allowed && tasks_.empty();
  return asleep_;
}

std::optional<Clock::time_point> Loop::next_timer() const {
  if (timers_.empty()) return std::nullopt;
  return timers_.begin()->first;
}

int Loop::until_next_timer() const {
  const auto next = next_timer();
  if (!next) return -1;
  const auto left = ceil<milliseconds>(*next - Clock::now());
  return static_cast<int>(std::clamp(left, milliseconds::zero(), kLongestSleep).count());
}

/// Events that are left out are reported again. The kernel may report the same descriptors in the same order
/// each time, so the ones that have waited longest come first.
bool Loop::run_events(std::span<epoll_event> events) {
  if (some_left_out_) {
    std::stable_sort(events.begin(), events.end(), [this](const epoll_event& one, const epoll_event& other) {
      return left_out_since(one) < left_out_since(other);
    });
  }
  some_left_out_ = some_left_out_ && events.size() == kEventsPerTurn;  // maybe not all of them were reported
  bool called = false;
  for (const epoll_event& event : events) {
    if (stopped_) break;
    const int fd = fd_in(event.data.u64);
    if (used_up(now_)) {
      if (!find(fd, number_in(event.data.u64))) continue;
      Entry& entry = entries_[static_cast<std::size_t>(fd)];
      if (entry.left_out == 0) entry.left_out = turns_;
      some_left_out_ = true;
      continue;
    }
    if (!dispatch(event)) continue;
    called = true;
    returned("descriptor");
  }
  return called;
}

std::uint64_t Loop::left_out_since(const epoll_event& event) const {
  const int fd = fd_in(event.data.u64);
  const std::uint64_t turn =
      find(fd, number_in(event.data.u64)) ? entries_[static_cast<std::size_t>(fd)].left_out : 0;
  return turn == 0 ? turns_ : turn;
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
  entries_[static_cast<std::size_t>(fd)].left_out = 0;
  const bool called = watch->tell(event.events, turns_);
  if (Watch* const left = find(fd, number)) {
    left->settle(event.events, called ? Watch::Report::Handled : Watch::Report::Ignored);
  }
  return called;
}

bool Loop::run_timers() {
  const Clock::time_point since = returned_;
  bool called = false;
  while (!stopped_ && !timers_.empty() && timers_.begin()->first <= now_ && !used_up(since)) {
    {
      const Task task = std::exchange(timers_.begin()->second->task_, nullptr);
      timers_.erase(timers_.begin());
      task();
    }
    called = true;
    returned("timer");
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
  const Clock::time_point since = returned_;
  std::size_t done = 0;
  for (; done < due.size() && !stopped_ && !used_up(since); ++done) {
    {
      const Task task = std::move(due[done]);  // destroyed before the next task runs
      task();
    }
    returned("task");
  }
  const bool called = !due.empty();
  if (!stopped_) keep_for_later(due, done);
  due.clear();
  if (due.capacity() <= kSpareTasks) spare_.swap(due);
  return called;
}

/// Puts the remaining tasks before those that were posted in this turn.
void Loop::keep_for_later(std::vector<Task>& due, std::size_t done) {
  if (done == due.size()) return;
  const auto first = due.begin() + static_cast<std::ptrdiff_t>(done);
  const std::lock_guard guard(mutex_);
  tasks_.insert(tasks_.begin(), std::make_move_iterator(first), std::make_move_iterator(due.end()));
}

std::uint32_t Loop::enter(int fd, Watch& watch) {
  const auto at = static_cast<std::size_t>(fd);
  if (at >= entries_.size()) entries_.resize(at + 1);
  if (++last_number_ == 0) ++last_number_;
  entries_[at] = {&watch, last_number_, 0};
  return last_number_;
}

Watch* Loop::find(int fd, std::uint32_t number) const {
  const auto at = static_cast<std::size_t>(fd);
  return at < entries_.size() && entries_[at].number == number ? entries_[at].watch : nullptr;
}

// ---- Watch
//
// The epoll registration is level-triggered, and it is not changed for every wait: a caller that was notified
// of input usually waits for more, so the interest stays registered until a report finds no callback.

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
  // The tasks may hold the last reference to the owner of this object, so they are destroyed when its members
  // are no longer needed.
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
  // A regular file is always ready. With any other descriptor that epoll rejects, the caller's next read or
  // write reports the error.
  loop_.post([&loop = loop_, fd = fd_, number = number_] {
    if (Watch* const watch = loop.find(fd, number)) watch->tell(EPOLLIN | EPOLLOUT, loop.turns_ + 1);
  });
}

/// Runs the callbacks that have waited for these events since before turn `begun_before`: a later one may
/// have been registered after the reported state was dealt with. Returns whether a callback ran; it may have
/// destroyed this watch.
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

/// Stops reports that no callback handles, so that the loop does not spin.
void Watch::settle(std::uint32_t events, Report report) {
  const bool handled = report == Report::Handled;
  if (!handled && (events & kTrouble) != 0 && !readable_.task && !writable_.task && !broken_.task)
    return leave();
  const std::uint32_t likely = handled ? EPOLLIN : EPOLLIN & ~events;
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
  const Task forgotten = std::exchange(task_, nullptr);  // may hold the last reference to our owner
  loop_.timers_.erase(at_);
}

}  // namespace corral
