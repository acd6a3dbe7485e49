// Tells when a file has changed, whichever way: written, replaced by another of the same name, removed, made
// anew, or made at all. Looks at the folders on the way, because a file that is replaced takes a watch on
// itself with it.
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
  /// `changed` is called once the file has been left alone for a moment, if it is another one than when this
  /// was made or called last.
  FileWatch(Loop& loop, std::string file, Task changed);

  /// False where the kernel has none left for this user: nothing will be told.
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
  std::map<int, std::set<std::string>> places_;  // the names that matter, by the watch on their folder
  Fingerprint last_{};
};

}  // namespace corral::serve
