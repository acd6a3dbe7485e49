// The terminal of `corral top`: another screen, keys without Enter, and all of it as it was when we leave, by
// whichever door. ANSI by hand: what is needed is a dozen sequences that every terminal of today has.
#pragma once

#include <termios.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "cli/screen/top_screen.h"

namespace corral::cli {

class TopTerminal {
 public:
  struct Size {
    std::size_t columns = 80;
    std::size_t rows = 24;
  };

  /// An error if there is no terminal, or none that can place text. Blocks the signals that `signals` tells.
  static Result<std::unique_ptr<TopTerminal>> open();
  ~TopTerminal();
  TopTerminal(const TopTerminal&) = delete;
  TopTerminal& operator=(const TopTerminal&) = delete;

  int fd() const { return fd_.get(); }
  /// SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT and SIGWINCH, one per read.
  int signals() const { return signals_.get(); }
  /// The next one that came; 0 = none.
  int next_signal() const;

  Size size() const;
  /// What was typed; nothing = the terminal is gone.
  std::optional<std::string> read();

  /// Draws, as far as the terminal takes it now; the rest follows with `write_more`. While something is left
  /// a new picture is not begun: false.
  bool draw(const std::vector<TopLine>& lines, const TerminalStyle& style);
  bool has_more() const { return !left_.empty(); }
  /// False = the terminal is gone.
  bool write_more();

  /// Ctrl+Z: gives the terminal back, stops, and takes it again when continued.
  void stop();
  /// Somebody else had the terminal.
  void resume();

 private:
  TopTerminal(UniqueFd fd, const termios& before);
  void enter();
  void leave();

  UniqueFd fd_;
  UniqueFd signals_;
  termios before_;
  std::string left_;
  bool entered_ = false;
};

}  // namespace corral::cli
