// Reports when a file has changed: written, replaced by another of the same name, removed, or created.
// Watches the directories on its path, because a watch on the file itself would be lost when the file is
// replaced. Must be used on the loop's thread.
#pragma once

#include <sys/inotify.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/loop.h"
#include "base/unique_fd.h"

namespace corral::serve {

class FileWatch {
 public:
  /// `changed` is called when nothing has written to the file for a moment, if the file differs from what it
  /// was at construction or at the last call.
  FileWatch(Loop& loop, std::string file, Task changed);

  /// False if the user has no inotify instance left: then `changed` is never called.
  bool works() const { return inotify_.valid(); }

 private:
  using Fingerprint = std::array<std::int64_t, 7>;

  void wait();
  void read_events();
  bool concerns_us(const inotify_event& event) const;
  void look_at_folders();
  bool watch_way_to(const std::string& path, std::map<int, std::set<std::string>>& places) const;
  void something_happened();
  void settled();
  Fingerprint fingerprint() const;

  const std::string file_;
  Task changed_;
  UniqueFd inotify_;
  std::optional<Watch> watch_;
  Timer settle_;
  std::optional<Clock::time_point> unsettled_since_;
  std::map<int, std::set<std::string>> places_;  // the watched names, by the watch on their directory
  Fingerprint last_{};
};

}  // namespace corral::serve
