#include "cli/screen/top_terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>

namespace corral::cli {
namespace {

// Alternate screen, hidden cursor, no wrapping: a character that is wider than expected then shifts one line
// and not all of them.
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[?7l";
constexpr std::string_view kLeave = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";
constexpr int kGoodbyeMs = 500;  // for the terminal to accept the sequences that restore it
constexpr std::size_t kMostColumns = 1000;

const char* sgr_of(TopLine::Style style) {
  switch (style) {
    case TopLine::Style::Title: return "\x1b[1m";
    case TopLine::Style::Header:
    case TopLine::Style::Selected: return "\x1b[7m";
    case TopLine::Style::Faint: return "\x1b[2m";
    case TopLine::Style::Warning: return "\x1b[33m";
    case TopLine::Style::Bad: return "\x1b[31m";
    case TopLine::Style::Plain: break;
  }
  return "";
}

Error no_terminal(const std::string& why) {
  return Error{why + ": use `corral ps`, or `corral top --batch 5` for plain text"};
}

/// Opens the terminal again, because O_NONBLOCK on the inherited descriptor would also affect the shell.
UniqueFd open_terminal() {
  constexpr int kHow = O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  UniqueFd fd(open("/dev/tty", kHow));
  return fd.valid() ? std::move(fd) : UniqueFd(open("/proc/self/fd/1", kHow));
}

sigset_t wanted_signals() {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int signo : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH}) {
    sigaddset(&wanted, signo);
  }
  return wanted;
}

}  // namespace

Result<std::unique_ptr<TopTerminal>> TopTerminal::open() {
  if (isatty(STDIN_FILENO) != 1 || isatty(STDOUT_FILENO) != 1) {
    return no_terminal("stdin or stdout is not a terminal");
  }
  const char* const type = getenv("TERM");
  if (type == nullptr || *type == '\0' || std::string_view(type) == "dumb") {
    return no_terminal("this terminal cannot position text (TERM is " +
                       std::string(type == nullptr || *type == '\0' ? "not set" : type) + ")");
  }
  UniqueFd fd = open_terminal();
  termios before{};
  if (!fd.valid() || tcgetattr(fd.get(), &before) != 0) return no_terminal("cannot open the terminal");
  return std::unique_ptr<TopTerminal>(new TopTerminal(std::move(fd), before));
}

TopTerminal::TopTerminal(UniqueFd fd, const termios& before) : fd_(std::move(fd)), before_(before) {
  const sigset_t wanted = wanted_signals();
  for (const int signo : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    ::signal(signo, SIG_DFL);  // the parent may ignore it, and we would inherit that
  }
  ::signal(SIGPIPE, SIG_IGN);
  sigprocmask(SIG_BLOCK, &wanted, nullptr);
  signals_ = UniqueFd(signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  enter();
}

TopTerminal::~TopTerminal() { leave(); }

int TopTerminal::next_signal() const {
  signalfd_siginfo info{};
  return ::read(signals_.get(), &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
}

void TopTerminal::enter() {
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  raw.c_iflag &= ~static_cast<tcflag_t>(IXON | ICRNL);  // Ctrl+S must not freeze the program
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  tcsetattr(fd_.get(), TCSANOW, &raw);
  left_ = kEnter;
  entered_ = true;
  write_more();
}

void TopTerminal::leave() {
  if (!entered_) return;
  entered_ = false;
  left_.append(kLeave);
  for (pollfd room{fd_.get(), POLLOUT, 0}; write_more() && has_more();) {
    if (poll(&room, 1, kGoodbyeMs) <= 0) break;
  }
  left_.clear();
  tcsetattr(fd_.get(), TCSANOW, &before_);
}

void TopTerminal::stop() {
  leave();
  raise(SIGSTOP);
  enter();
}

void TopTerminal::resume() {
  leave();
  enter();
}

TopTerminal::Size TopTerminal::size() const {
  winsize size{};
  if (ioctl(fd_.get(), TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {std::min<std::size_t>(size.ws_col, kMostColumns), std::min<std::size_t>(size.ws_row, kMostColumns)};
}

std::optional<std::string> TopTerminal::read() {
  char bytes[512];
  const ssize_t got = ::read(fd_.get(), bytes, sizeof bytes);
  if (got > 0) return std::string(bytes, static_cast<std::size_t>(got));
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return std::string();
  return std::nullopt;
}

bool TopTerminal::draw(const std::vector<TopLine>& lines, const TerminalStyle& style) {
  if (has_more()) return false;
  left_ = "\x1b[H";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const char* const sgr = style.bold ? sgr_of(lines[i].style) : "";
    left_ += (i == 0 ? "" : "\r\n") + (sgr + lines[i].text) + (*sgr == '\0' ? "" : "\x1b[0m") + "\x1b[K";
  }
  left_ += "\x1b[J";
  write_more();
  return true;
}

bool TopTerminal::write_more() {
  while (!left_.empty()) {
    const ssize_t put = ::write(fd_.get(), left_.data(), left_.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno == EAGAIN;
    left_.erase(0, static_cast<std::size_t>(put));
  }
  return true;
}

}  // namespace corral::cli
