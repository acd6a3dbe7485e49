// Real screens for a test: a tmux of its own, whose panes show what a person would see. It is ended with the
// test.
#pragma once

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "support/eventually.h"
#include "support/session.h"

namespace corral::os_tests {

/// `Base` is a DaemonTest.
template <class Base>
class OnScreens : public Base {
 protected:
  void TearDown() override {
    if (has_tmux_) tmux({"kill-server"});
    Base::TearDown();
  }

  std::string tmux(const std::vector<std::string>& words) {
    Launch launch = this->command("tmux");
    launch.argv = {"tmux", "-S", this->path("s-" + this->tag()), "-f", "/dev/null"};
    launch.argv.insert(launch.argv.end(), words.begin(), words.end());
    Session session(launch);
    std::string out = session.output_to_end();
    session.wait();
    return out;
  }

  /// A screen of that name on which the program runs.
  void open_screen(const std::string& name, int columns, const std::vector<std::string>& program,
                   int rows = 24) {
    has_tmux_ = true;
    std::vector<std::string> line = {
        "new-session", "-d", "-s", name, "-x", std::to_string(columns), "-y", std::to_string(rows)};
    line.insert(line.end(), program.begin(), program.end());
    tmux(line);
  }

  /// The same for a program that ends: the pane stays until the tmux ends, and kEnd follows the text.
  void open_page(const std::string& name, int columns, const std::vector<std::string>& program,
                 int rows = 24) {
    std::vector<std::string> line = {"sh", "-c", "\"$@\"; printf '" + std::string(kEnd) + "'; read end",
                                     "sh"};
    line.insert(line.end(), program.begin(), program.end());
    open_screen(name, columns, line, rows);
  }
  static constexpr const char* kEnd = "(end)";

  std::string text_of(const std::string& name) { return tmux({"capture-pane", "-p", "-t", name}); }
  /// With each line that was wrapped as one line again.
  std::string unwrapped_text_of(const std::string& name) {
    return tmux({"capture-pane", "-p", "-J", "-t", name});
  }
  std::string colours_of(const std::string& name) { return tmux({"capture-pane", "-p", "-e", "-t", name}); }
  bool comes_to_show(const std::string& name, const std::string& part) {
    return eventually([&] { return text_of(name).find(part) != std::string::npos; });
  }

 private:
  bool has_tmux_ = false;
};

}  // namespace corral::os_tests
