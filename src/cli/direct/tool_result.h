// What comes back from a call, and what a server says meanwhile, for a person.
#pragma once

#include <string>
#include <string_view>

namespace corral::cli {

/// Whether the tool says that it failed.
bool is_error(std::string_view result);

/// Text as it is, everything else as one line with its kind and size; structured content where there is no
/// other. Ends with a line end unless it is empty.
std::string shown_result(std::string_view result);

/// Of notifications/progress and notifications/message, one line without its end.
std::string shown_progress(std::string_view params);
std::string shown_log(std::string_view params);

/// One line at the bottom of a terminal that is written over; nothing without a terminal.
class StatusLine {
 public:
  explicit StatusLine(bool terminal) : terminal_(terminal) {}
  ~StatusLine() { clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  void show(const std::string& text);
  void clear();

 private:
  bool terminal_;
  bool shown_ = false;
};

}  // namespace corral::cli
