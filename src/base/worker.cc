#include "base/worker.h"

#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <thread>

namespace corral {

struct Worker::Shared : std::enable_shared_from_this<Worker::Shared> {
  struct Work {
    std::function<void()> job;
    Task done;
  };

  explicit Shared(Loop& given) : loop(given) {}

  void run() {
    for (std::unique_lock lock(mutex);;) {
      wake.wait(lock, [this] { return over || !queue.empty(); });
      if (over) return;
      Work work = std::move(queue.front());
      queue.pop_front();
      working = true;
      lock.unlock();
      work.job();
      // The task holds objects that belong to the loop, so it is also destroyed on the loop's thread.
      loop.post([shared = weak_from_this(), done = std::move(work.done)] {
        const auto still = shared.lock();
        if (still && !still->over && done) done();
      });
      work = {};
      lock.lock();
      working = false;
    }
  }

  Loop& loop;
  std::mutex mutex;
  std::condition_variable wake;
  std::deque<Work> queue;
  bool working = false;
  bool over = false;  // only changed on the loop's thread
  std::thread thread;
};

Worker::Worker(Loop& loop) : shared_(std::make_shared<Shared>(loop)) {}

Worker::~Worker() {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->over = true;
  }
  shared_->wake.notify_one();
  if (shared_->thread.joinable()) shared_->thread.join();
}

bool Worker::busy() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->working || !shared_->queue.empty();
}

void Worker::run(std::function<void()> job, Task done) {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->queue.push_back({std::move(job), std::move(done)});
  }
  shared_->wake.notify_one();
  if (shared_->thread.joinable()) return;
  // The loop handles signals, so this thread blocks all of them.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  shared_->thread = std::thread([shared = shared_.get()] { shared->run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace corral
