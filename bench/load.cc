#include "load.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "load_http.h"
#include "stats.h"

namespace corral::bench {
namespace {

constexpr std::size_t kFirstRoom = 4096;
constexpr std::size_t kLeastRoom = 2048;

void nothing(int) {}

[[noreturn]] void give_up(const std::string& what) {
  throw std::runtime_error(errno == EINTR ? "no answer within the time: " + what : what);
}

// What a modern client says of itself in every request.
constexpr const char* kMeta = R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                              R"("io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},)"
                              R"("io.modelcontextprotocol/clientCapabilities":{}})";

std::string call(unsigned id, const std::string& tool, const std::string& arguments, bool modern) {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"tools/call","params":{)" +
         (modern ? kMeta + std::string(",") : "") + R"("name":")" + tool + R"(","arguments":)" + arguments +
         "}}\n";
}

}  // namespace

// Without SA_RESTART: a blocked read returns.
TimeLimit::TimeLimit(unsigned seconds) {
  struct sigaction action {};
  action.sa_handler = nothing;
  sigaction(SIGALRM, &action, nullptr);
  alarm(seconds);
}

TimeLimit::~TimeLimit() { alarm(0); }

Link::Link(std::string name, Child child)
    : name_(std::move(name)), child_(std::move(child)), to_(child_->in()), from_(child_->out()) {}

Link::Link(std::string name, int to, int from) : name_(std::move(name)), to_(to), from_(from) {}

Link::Link(Link&& other) noexcept
    : name_(std::move(other.name_)),
      child_(std::move(other.child_)),
      to_(std::exchange(other.to_, -1)),
      from_(std::exchange(other.from_, -1)),
      next_id_(other.next_id_),
      modern_(other.modern_),
      wanted_id_(std::move(other.wanted_id_)),
      wanted_text_(std::move(other.wanted_text_)),
      line_(std::move(other.line_)),
      filled_(other.filled_) {
  other.child_.reset();
}

Link::~Link() { close_both(); }

void Link::close_both() {
  if (child_) return;  // its destructor closes
  if (to_ >= 0) ::close(to_);
  if (from_ >= 0 && from_ != to_) ::close(from_);
  to_ = from_ = -1;
}

void Link::close() {
  if (child_) {
    child_->close_stdin();
    child_->wait();
    child_.reset();
    to_ = from_ = -1;
  }
  close_both();
}

void Link::write_all(const std::string& text) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t wrote = write(to_, rest.data(), rest.size());
    if (wrote <= 0) give_up(name_ + ": the other side takes no question");
    rest.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

/// True once what has come ends with a line end.
bool Link::read_some() {
  if (line_.size() < filled_ + kLeastRoom) line_.resize(std::max(kFirstRoom, 2 * line_.size()));
  const ssize_t got = read(from_, line_.data() + filled_, line_.size() - filled_);
  if (got <= 0) give_up(name_ + ": the other side ended before it answered");
  filled_ += static_cast<std::size_t>(got);
  return line_[filled_ - 1] == '\n';
}

Link::Taken Link::take() {
  if (!read_some()) return Taken::Partly;
  return is_right() ? Taken::Right : Taken::Wrong;
}

// One line, our id in front, and our text whole.
bool Link::is_right() const {
  const std::string_view line(line_.data(), filled_);
  return line.find('\n') == filled_ - 1 && line.substr(0, 64).find(wanted_id_) != std::string_view::npos &&
         line.find(wanted_text_) != std::string_view::npos;
}

double Link::timed(const std::string& question) {
  const Clock::time_point start = Clock::now();
  write_all(question);
  filled_ = 0;
  while (!read_some()) continue;
  const double us = ms_since(start) * 1000;
  if (!is_right()) {
    throw std::runtime_error(
        name_ + ": wrong answer: " + std::string(line_.data(), std::min<std::size_t>(filled_, 200)));
  }
  return us;
}

void Link::open() {
  wanted_id_ = "\"id\":0";
  wanted_text_ = "echo_server";
  timed(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
        R"("capabilities":{},"clientInfo":{"name":"bench","version":"1"}}})"
        "\n");
  wanted_id_ = "\"id\":\"list\"";
  wanted_text_ = "\"inputSchema\"";
  timed(R"({"jsonrpc":"2.0","method":"notifications/initialized"})"
        "\n"
        R"({"jsonrpc":"2.0","id":"list","method":"tools/list"})"
        "\n");
}

void Link::open_modern() {
  modern_ = true;
  wanted_id_ = "\"id\":\"discover\"";
  wanted_text_ = "echo_server";
  timed(R"({"jsonrpc":"2.0","id":"discover","method":"server/discover","params":{)" + std::string(kMeta) +
        "}}\n");
  wanted_id_ = "\"id\":\"list\"";
  wanted_text_ = "\"inputSchema\"";
  timed(R"({"jsonrpc":"2.0","id":"list","method":"tools/list","params":{)" + std::string(kMeta) + "}}\n");
}

std::string Link::next_echo(std::size_t bytes) {
  const unsigned id = next_id_++;
  wanted_id_ = "\"id\":" + std::to_string(id) + ",";
  std::string text = name_ + "-" + std::to_string(id) + "-";
  if (text.size() < bytes) text.append(bytes - text.size(), 'e');
  wanted_text_ = "\"" + text + "\"";
  filled_ = 0;
  return call(id, "echo", "{\"text\":" + wanted_text_ + "}", modern_);
}

double Link::echo(std::size_t bytes) { return timed(next_echo(bytes)); }

double Link::ping() {
  const unsigned id = next_id_++;
  wanted_id_ = "\"id\":" + std::to_string(id) + ",";
  wanted_text_ = "\"result\"";
  return timed(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"ping"})" + "\n");
}

void Link::ask_echo(std::size_t bytes) { write_all(next_echo(bytes)); }

/// Leaves in the buffer what has come behind it.
std::string Link::read_line() {
  for (;;) {
    const auto filled = line_.begin() + static_cast<std::ptrdiff_t>(filled_);
    const auto end = std::find(line_.begin(), filled, '\n');
    if (end != filled) {
      const std::string line(line_.begin(), end);
      std::copy(end + 1, filled, line_.begin());
      filled_ -= line.size() + 1;
      return line;
    }
    read_some();
  }
}

Link::Persistence Link::echo_until_right(std::size_t bytes) {
  const Clock::time_point start = Clock::now();
  Persistence result;
  for (;; ++result.errors) {
    write_all(next_echo(bytes));
    std::string line;
    while (line.substr(0, 64).find(wanted_id_) == std::string::npos) line = read_line();
    if (line.find(wanted_text_) != std::string::npos) break;
    if (line.find("\"error\"") == std::string::npos)
      throw std::runtime_error(name_ + ": wrong answer: " + line);
  }
  result.ms = ms_since(start);
  return result;
}

double Link::blob(std::size_t bytes) {
  const unsigned id = next_id_++;
  wanted_id_ = "\"id\":" + std::to_string(id) + ",";
  const char fill = static_cast<char>('a' + id % 26);
  wanted_text_ = "\"" + std::string(bytes, fill) + "\"";
  return timed(
      call(id, "blob", R"({"bytes":)" + std::to_string(bytes) + R"(,"fill":")" + fill + "\"}", modern_));
}

namespace {

class Poller {
 public:
  template <typename Client>
  explicit Poller(const std::vector<Client>& links) : fd_(epoll_create1(EPOLL_CLOEXEC)) {
    for (std::size_t i = 0; i < links.size(); ++i) {
      epoll_event event{};
      event.events = EPOLLIN;
      event.data.u64 = i;
      if (epoll_ctl(fd_, EPOLL_CTL_ADD, links[i].from(), &event) != 0) {
        throw std::system_error(errno, std::generic_category(), "epoll_ctl");
      }
    }
  }
  ~Poller() { ::close(fd_); }
  Poller(const Poller&) = delete;

  int wait() {
    const int count = epoll_wait(fd_, events_, kMost, 10'000);
    if (count <= 0) throw std::runtime_error("no answer for 10 s while many clients asked");
    return count;
  }
  std::size_t operator[](int i) const { return events_[i].data.u64; }

 private:
  static constexpr int kMost = 256;
  int fd_;
  epoll_event events_[kMost];
};

}  // namespace

template <typename Client>
Load drive(std::vector<Client>& links, std::chrono::milliseconds time, std::size_t bytes) {
  Poller poller(links);
  Load load;
  std::vector<double> times;
  std::vector<Clock::time_point> asked(links.size());
  const Clock::time_point start = Clock::now();
  for (std::size_t i = 0; i < links.size(); ++i) {
    asked[i] = Clock::now();
    links[i].ask_echo(bytes);
  }
  std::size_t in_flight = links.size();
  Clock::time_point now = start;
  while (in_flight > 0) {
    const int ready = poller.wait();
    for (int k = 0; k < ready; ++k) {
      const std::size_t i = poller[k];
      const Link::Taken taken = links[i].take();
      if (taken == Link::Taken::Partly) continue;
      if (taken == Link::Taken::Wrong) ++load.wrong;
      ++load.calls;
      now = Clock::now();
      times.push_back(std::chrono::duration<double, std::micro>(now - asked[i]).count());
      if (now - start < time) {
        asked[i] = now;
        links[i].ask_echo(bytes);
      } else {
        --in_flight;
      }
    }
  }
  load.per_second = static_cast<double>(load.calls) / std::chrono::duration<double>(now - start).count();
  load.p50_us = quantile(times, 0.5);
  load.p99_us = quantile(std::move(times), 0.99);
  return load;
}

template Load drive(std::vector<Link>& links, std::chrono::milliseconds time, std::size_t bytes);
template Load drive(std::vector<HttpClient>& links, std::chrono::milliseconds time, std::size_t bytes);

}  // namespace corral::bench
