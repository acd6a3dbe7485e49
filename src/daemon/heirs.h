// Asks which client goes on with a session whose process has exited (survey/pipe_heirs.h). Sessions that ask
// while an answer is being looked for are answered by the next look together, so many sessions of one
// launcher cost two looks at most. Must be used on the loop's thread; the hub owns it.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/lifetime.h"
#include "base/unique_fd.h"
#include "base/worker.h"
#include "survey/pipe_heirs.h"

namespace corral::daemon {

class Heirs {
 public:
  /// A pidfd; invalid if nobody goes on.
  using Found = std::function<void(UniqueFd)>;
  using Look = std::function<std::vector<UniqueFd>(const std::vector<survey::PipeEnds>&)>;

  /// `worker` outlives this object, and runs `look`.
  explicit Heirs(Worker& worker, Look look = survey::find_heirs) : worker_(worker), look_(std::move(look)) {}

  /// `found` is called once, later; not after this object is destroyed.
  void find(const survey::PipeEnds& ends, Found found);
  /// For tests: who goes on is what `look` says.
  void look_with(Look look) { look_ = std::move(look); }

 private:
  void look();

  Worker& worker_;
  Look look_;
  std::vector<std::pair<survey::PipeEnds, Found>> waiting_;
  bool looking_ = false;
  Lifetime lifetime_;
};

}  // namespace corral::daemon
