// The result of a call, and progress and log messages of the server, as text for the user.
#pragma once

#include <string>
#include <string_view>

namespace corral::cli {

/// Whether the result says that the tool failed.
bool is_error(std::string_view result);

/// Text unchanged; all other content as one line with its kind and size; structured content if there is no
/// other. Ends with a line break unless it is empty.
std::string shown_result(std::string_view result);

/// The params of notifications/progress and notifications/message as one line, without a line break.
std::string shown_progress(std::string_view params);
std::string shown_log(std::string_view params);

/// A line at the bottom of the terminal that is overwritten by the next one; prints nothing if stderr is not
/// a terminal.
class StatusLine {
 public:
  StatusLine();
  ~StatusLine() { clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  void show(const std::string& text);
  void clear();

 private:
  const bool terminal_;
  bool shown_ = false;
};

}  // namespace corral::cli
