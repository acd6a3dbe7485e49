#include "daemon/heirs.h"

namespace corral::daemon {

void Heirs::find(const survey::PipeEnds& ends, Found found) {
  waiting_.emplace_back(ends, std::move(found));
  if (!looking_) look();
}

void Heirs::look() {
  looking_ = true;
  const auto asked =
      std::make_shared<std::vector<std::pair<survey::PipeEnds, Found>>>(std::exchange(waiting_, {}));
  const auto heirs = std::make_shared<std::vector<UniqueFd>>();
  std::vector<survey::PipeEnds> ends;
  for (const auto& [pipe_ends, found] : *asked) ends.push_back(pipe_ends);
  worker_.run([heirs, look = look_, ends = std::move(ends)] { *heirs = look(ends); },
              lifetime_.guard([this, asked, heirs] {
                looking_ = false;
                heirs->resize(asked->size());
                for (std::size_t i = 0; i < asked->size(); ++i) (*asked)[i].second(std::move((*heirs)[i]));
                if (!waiting_.empty() && !looking_) look();
              }));
}

}  // namespace corral::daemon
