// The daemon's inside: sessions, routers, instances. Built once, on the loop thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/loop.h"
#include "client/reception.h"
#include "config/configuration.h"
#include "proc/spawner.h"

namespace corral::app {

struct Ended {
  std::size_t sessions = 0;   // that were open when the end began
  std::size_t instances = 0;  // that ran when the end began
};

class Hub final : public client::Reception {
 public:
  Hub(Loop& loop, config::Configuration configuration, proc::Spawner& spawner);
  ~Hub() override;

  void arrived(client::Arrival arrival, std::shared_ptr<client::ShimLine> line) override;
  std::string status() override;
  void shut_down(const std::string& why, std::function<void(std::string)> done) override;

  /// Ends every session and every instance within the configured times; `done` when none is left or the
  /// bound is reached. A second call while it runs shortens the wait.
  void drain(std::function<void(Ended)> done);

  /// What to do when somebody asks for the end over the socket; the service drains and leaves.
  void when_asked_to_stop(std::function<void(std::string)> task);

  std::size_t sessions() const;
  std::size_t instances() const;
  /// Called whenever the last session has left.
  void when_empty(Task task);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace corral::app
