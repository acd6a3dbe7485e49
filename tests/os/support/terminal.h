// A real pseudo terminal: what the test types here, the kernel's line discipline turns into signals for the
// foreground process group.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace corral::os_tests {

class Terminal {
 public:
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  int slave() const { return slave_; }
  void type(const std::string& keys);
  void close_window();  // hang-up
  void resize(int columns, int rows);

  // Waits for the text on the screen and takes it away, with all that stands before it.
  bool shows(const std::string& text);
  // What was not taken yet, for messages.
  const std::string& screen() const { return screen_; }
  // The process group that the keys are for.
  pid_t foreground_group() const;
  // Lines are edited and echoed by the kernel, as they are before a program changes that.
  bool is_cooked() const;

  static constexpr const char* kCtrlC = "\x03";
  static constexpr const char* kCtrlBackslash = "\x1c";
  static constexpr const char* kCtrlZ = "\x1a";

 private:
  int master_ = -1;
  int slave_ = -1;
  std::string screen_;
};

// For Launch::before_exec: puts the program into a foreground job below a process that leads the session, as
// a shell does. Without that parent the group would be orphaned, and the kernel never stops an orphaned
// group: Ctrl+Z would prove nothing.
std::function<void()> as_foreground_job(const Terminal& terminal);

}  // namespace corral::os_tests
