// A real pseudo terminal: what the test types here, the kernel's line discipline turns into signals for the
// foreground process group.
#pragma once

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

  static constexpr const char* kCtrlC = "\x03";
  static constexpr const char* kCtrlBackslash = "\x1c";
  static constexpr const char* kCtrlZ = "\x1a";

 private:
  int master_ = -1;
  int slave_ = -1;
};

}  // namespace corral::os_tests
