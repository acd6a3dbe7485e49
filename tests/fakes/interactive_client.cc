// A program that a person talks to at a terminal: it reads lines, tells which signals it hears, knows raw
// mode and may leave a daemon behind.
//
//   interactive_client [--tag=TAG] [--raw] [--deaf]
//
// Everything that it says is in <>, so that it differs from what a shell echoes: <ready PID>, <signal N>,
// <size COLUMNSxROWS>, <modes raw>, <said TEXT>. It reads: "say TEXT", "daemon", "exit N". In raw mode one
// key is a command: 'z' stops itself as full-screen programs do, 'q' leaves. With --deaf it reads nothing.
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "lifetime.h"

namespace {

using corral::fakes::Deadline;

void say(const std::string& text) {
  const std::string line = '<' + text + ">\r\n";
  if (write(STDOUT_FILENO, line.data(), line.size()) < 0) _exit(69);
}

void say_modes() {
  termios modes{};
  tcgetattr(STDIN_FILENO, &modes);
  say((modes.c_lflag & ICANON) != 0 ? "modes cooked" : "modes raw");
}

void hear(int number) {
  const int before = errno;
  if (number == SIGWINCH) {
    winsize size{};
    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    say("size " + std::to_string(size.ws_col) + 'x' + std::to_string(size.ws_row));
  } else {
    say("signal " + std::to_string(number));
  }
  errno = before;
}

void listen() {
  struct sigaction action {};
  action.sa_handler = hear;
  action.sa_flags = SA_RESTART;
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGWINCH, SIGCONT}) {
    struct sigaction inherited {};
    sigaction(number, nullptr, &inherited);
    if (inherited.sa_handler != SIG_IGN) sigaction(number, &action, nullptr);  // as programs below nohup do
  }
}

void leave_daemon(const Deadline& deadline) {
  if (fork() != 0) return;
  setsid();
  if (fork() != 0) _exit(0);
  prctl(PR_SET_NAME, "left-daemon");
  corral::fakes::end_by_itself(deadline);
  signal(SIGHUP, SIG_IGN);
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  corral::fakes::idle_for_ever();
}

int read_lines(const Deadline& deadline) {
  std::string line;
  for (char c = 0;;) {
    const ssize_t got = read(STDIN_FILENO, &c, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return 0;
    if (c != '\n') {
      line += c;
      continue;
    }
    if (line.starts_with("say ")) say("said " + line.substr(4));
    if (line.starts_with("exit ")) return std::atoi(line.c_str() + 5);
    if (line == "daemon") {
      leave_daemon(deadline);
      say("left a daemon");
    }
    line.clear();
  }
}

int read_keys() {
  for (char c = 0;;) {
    const ssize_t got = read(STDIN_FILENO, &c, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || c == 'q') return 0;
    if (c == 'z') {
      kill(getpid(), SIGTSTP);
      say_modes();
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Deadline deadline = Deadline::in_seconds(60);
  corral::fakes::end_by_itself(deadline);
  bool raw = false;
  bool deaf = false;
  for (int i = 1; i < argc; ++i) {
    raw = raw || std::strcmp(argv[i], "--raw") == 0;
    deaf = deaf || std::strcmp(argv[i], "--deaf") == 0;
  }
  listen();
  if (raw) {
    termios modes{};
    tcgetattr(STDIN_FILENO, &modes);
    cfmakeraw(&modes);
    if (tcsetattr(STDIN_FILENO, TCSANOW, &modes) != 0) return 67;
  }
  say("ready " + std::to_string(getpid()));
  if (deaf) corral::fakes::idle_for_ever();
  return raw ? read_keys() : read_lines(deadline);
}
