// The terminal of `corral top`: the alternate screen and keys without Enter; the destructor restores
// everything. It writes ANSI sequences itself, because it needs only a dozen, which every current terminal
// supports. One object for the process; a single thread calls it.
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

  /// An error if there is no terminal, or if it cannot position text. Blocks the signals of `signals`.
  static Result<std::unique_ptr<TopTerminal>> open();
  ~TopTerminal();
  TopTerminal(const TopTerminal&) = delete;
  TopTerminal& operator=(const TopTerminal&) = delete;

  int fd() const { return fd_.get(); }
  /// A descriptor to poll for SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT and SIGWINCH.
  int signals() const { return signals_.get(); }
  /// The next pending signal; 0 = none.
  int next_signal() const;

  Size size() const;
  /// The bytes of the keys that were pressed; nothing = the terminal is gone.
  std::optional<std::string> read();

  /// Draws what the terminal accepts now; `write_more` writes the rest. Returns false, and draws nothing,
  /// while a rest is left.
  bool draw(const std::vector<TopLine>& lines, const TerminalStyle& style);
  bool has_more() const { return !left_.empty(); }
  /// False = the terminal is gone.
  bool write_more();

  /// Ctrl+Z: restores the terminal, stops this process, and takes the terminal again when it is continued.
  void stop();
  /// Takes the terminal again after another program has used it.
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
