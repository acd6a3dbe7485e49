// A client that calls without rest and looks at every answer, for tests/chaos:
//
//   chaos_client --tag=TAG --name=NAME --seed=N [--calls=N] [--window=N] [--pause=MS] [--alone] [--where=DIR]
//                -- COMMAND...
//
// It starts COMMAND the way MCP clients do, opens a session with a rude server behind it, keeps up to
// `window` calls in flight and ends when all are answered. Its ids count from 1 like everybody's; what it
// asks for holds its own name, so that an answer, news of a call or an update that was meant for somebody
// else shows.
// --alone: the server is its own, so it recalls what this client told it. --where: the server's directory.
//
// At its end it prints one line of JSON: what was sent and answered, the errors by code, the calls that were
// still open, how it ended and the violations that it saw. Whether an open call is one is for the driver
// to say, who knows whom it has killed.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "child.h"
#include "lifetime.h"
#include "words.h"

namespace corral::fakes {
namespace {

struct ClientOptions {
  std::string name;
  std::string where;
  unsigned seed = 0;
  long calls = 50;
  std::size_t window = 4;
  long pause_ms = 0;
  bool alone = false;
  char** command = nullptr;
};

ClientOptions parse(int argc, char** argv) {
  ClientOptions options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    std::string value;
    if (argument == "--") {
      options.command = argv + i + 1;
      break;
    }
    if (take_value(argument, "--tag=", value)) continue;
    if (take_value(argument, "--name=", options.name)) continue;
    if (take_value(argument, "--where=", options.where)) continue;
    if (take_value(argument, "--seed=", value)) {
      options.seed = static_cast<unsigned>(std::stoul(value));
    } else if (take_value(argument, "--calls=", value)) {
      options.calls = std::stol(value);
    } else if (take_value(argument, "--window=", value)) {
      options.window = std::stoul(value);
    } else if (take_value(argument, "--pause=", value)) {
      options.pause_ms = std::stol(value);
    } else if (argument == "--alone") {
      options.alone = true;
    } else {
      std::fprintf(stderr, "chaos_client: unknown argument %s\n", argv[i]);
      std::exit(64);
    }
  }
  if (options.command == nullptr || *options.command == nullptr) std::exit(64);
  return options;
}

long long now_ms() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000LL + now.tv_nsec / 1'000'000;
}

// ---- the shim and its pipes

// ---- what is asked, and what may come back

class Conversation {
 public:
  explicit Conversation(const ClientOptions& options) : options_(options), random_(options.seed) {}

  std::string opening();
  /// The next requests, as many as there is room for.
  std::string more();
  void heard(const std::string& line);
  /// These last requests have not left our hands.
  void take_back(std::string_view unsent);

  bool finished() const { return refused_ || (sent_ > options_.calls && open_.empty()); }
  bool full() const { return open_.size() >= options_.window || !ready_; }
  bool waits() const { return !open_.empty(); }
  void print(const char* how, int exit_code) const;

 private:
  struct Open {
    std::function<bool(const std::string& text)> fits;
    long long since;
  };

  std::string call(const std::string& tool, const std::string& arg,
                   std::function<bool(const std::string&)> fits);
  std::string request(const std::string& method, const std::string& params,
                      std::function<bool(const std::string&)> fits);
  std::string any_request();
  std::string own(long number) const { return options_.name + '/' + std::to_string(number); }
  std::string uri() const { return "chaos://" + options_.name; }
  void answered(const std::string& id, const std::string& line);
  void told(const std::string& method, const std::string& line);
  void violation(const std::string& what, const std::string& line);
  bool is_own_token(const std::string& token) const;

  const ClientOptions& options_;
  std::minstd_rand random_;
  std::map<long, Open> open_;
  std::map<std::string, long> errors_;
  std::vector<std::string> violations_;
  long sent_ = 0;  // the last id
  long answers_ = 0;
  long news_ = 0;
  bool ready_ = false;
  bool refused_ = false;
  bool subscribed_ = false;
};

bool any_text(const std::string&) { return true; }

std::string Conversation::opening() {
  return request(
      "initialize",
      R"({"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"chaos","version":"0"}})",
      any_text);
}

std::string Conversation::request(const std::string& method, const std::string& params,
                                  std::function<bool(const std::string&)> fits) {
  open_.emplace(++sent_, Open{std::move(fits), now_ms()});
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(sent_) + R"(,"method":")" + method + R"(","params":)" +
         params + "}\n";
}

std::string Conversation::call(const std::string& tool, const std::string& arg,
                               std::function<bool(const std::string&)> fits) {
  const std::string token = own(sent_ + 1);
  return request("tools/call",
                 R"({"_meta":{"progressToken":")" + token + R"("},"name":")" + tool +
                     R"(","arguments":{"arg":")" + arg + "\"}}",
                 std::move(fits));
}

std::string Conversation::any_request() {
  const auto is = [](std::string wanted) {
    return [wanted = std::move(wanted)](const std::string& text) { return text == wanted; };
  };
  const std::string mine = own(sent_ + 1);
  switch (random_() % 16) {
    case 0: return call("progress", std::to_string(4 + random_() % 3 * 4), any_text);
    case 1:
      return call("large", "96",
                  [](const std::string& text) { return text.size() == std::size_t{96} << 10; });
    case 2: return call("block", std::to_string(random_() % 40), is("unblocked"));
    case 3: return request("ping", "{}", any_text);
    case 4: return request("tools/list", "{}", any_text);
    case 5:
      if (std::exchange(subscribed_, true)) return call("touch", uri(), any_text);
      return request("resources/subscribe", R"({"uri":")" + uri() + "\"}", any_text);
    case 6:
      if (options_.where.empty()) break;
      return call("where", "", is(options_.where));
    case 7:
      if (!options_.alone) break;
      return call("remember", mine, is(mine));
    case 8:  // a server that came back has forgotten it
      if (!options_.alone) break;
      return call("recall", "", [name = options_.name + '/'](const std::string& text) {
        return text.empty() || text.starts_with(name);
      });
    default: break;
  }
  return call("echo", mine, is(mine));
}

std::string Conversation::more() {
  std::string bytes;
  while (!full() && sent_ <= options_.calls) {
    bytes += any_request();
    if (options_.pause_ms > 0) break;
  }
  return bytes;
}

void Conversation::take_back(std::string_view unsent) {
  for (std::size_t end = 0; (end = unsent.find('\n')) != std::string_view::npos;) {
    const bool is_request = !unsent.substr(0, end).ends_with("initialized\"}");
    if (is_request) open_.erase(sent_--);
    unsent.remove_prefix(end + 1);
  }
}

void Conversation::heard(const std::string& line) {
  const std::string head = line.substr(0, 300);
  const std::string method = field(head, "method");
  if (!method.empty()) return told(method, line);
  answered(field(head, "id"), line);
}

void Conversation::answered(const std::string& id, const std::string& line) {
  const long number = std::atol(id.c_str());
  const auto found = open_.find(number);
  if (found == open_.end()) {
    return violation(number > 0 && number <= sent_ ? "answered twice" : "a stranger's answer", line);
  }
  const bool is_error = line.find("\"error\":") != std::string::npos;
  ++answers_;
  if (is_error) {
    ++errors_[field(line, "code")];
  } else if (!found->second.fits(field(line, "text"))) {
    violation("not my answer", line);
  }
  open_.erase(found);
  if (number == 1) {
    refused_ = is_error;
    ready_ = !is_error;
  }
}

bool Conversation::is_own_token(const std::string& token) const {
  const std::string prefix = options_.name + '/';
  if (!token.starts_with(prefix)) return false;
  const long number = std::atol(token.c_str() + prefix.size());
  return number > 0 && number <= sent_;
}

void Conversation::told(const std::string& method, const std::string& line) {
  ++news_;
  if (method == "notifications/progress") {
    if (!is_own_token(field(line, "progressToken"))) violation("a stranger's progress", line);
  } else if (method == "notifications/resources/updated") {
    if (!subscribed_ || field(line, "uri") != uri()) violation("a stranger's update", line);
  } else if (!method.ends_with("/list_changed") && method != "notifications/message") {
    violation("an unexpected message", line);
  }
}

void Conversation::violation(const std::string& what, const std::string& line) {
  std::string text = what + ": ";
  for (const char byte : line.substr(0, 160)) text += byte == '"' || byte == '\\' || byte < ' ' ? '\'' : byte;
  violations_.push_back(std::move(text));
}

void Conversation::print(const char* how, int exit_code) const {
  std::string errors;
  for (const auto& [code, count] : errors_) {
    errors += (errors.empty() ? "\"" : ",\"") + code + "\":" + std::to_string(count);
  }
  std::string violations;
  for (const std::string& text : violations_) violations += (violations.empty() ? "\"" : ",\"") + text + '"';
  std::string open;
  for (const auto& [id, call] : open_) {
    open += (open.empty() ? "{\"id\":" : ",{\"id\":") + std::to_string(id) +
            ",\"since\":" + std::to_string(call.since) + '}';
  }
  std::printf(R"({"name":"%s","sent":%ld,"answered":%ld,"news":%ld,"errors":{%s},"open":[%s],"end":"%s",)"
              R"("exit":%d,"violations":[%s]})"
              "\n",
              options_.name.c_str(), sent_, answers_, news_, errors.c_str(), open.c_str(), how, exit_code,
              violations.c_str());
}

// ---- the loop

/// Between two things that happen. Nothing that the driver does lasts half as long.
constexpr long long kPatienceMs = 25'000;

class Client {
 public:
  explicit Client(const ClientOptions& options)
      : options_(options), conversation_(options), child_(start(options.command)) {}

  int run();

 private:
  bool step(int wait_ms);
  void close_input();
  void write_some();
  bool read_some();

  const ClientOptions& options_;
  Conversation conversation_;
  Child child_;
  std::string out_;
  std::string in_;
  long long last_news_ = now_ms();
  long long next_call_ = 0;
};

int Client::run() {
  out_ = conversation_.opening();
  const char* how = "eof";  // before we were done
  bool initialized = false;
  for (bool goes_on = true; goes_on;) {
    if (!initialized && !conversation_.waits()) {
      out_ += "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
      initialized = true;
    }
    if (out_.empty() && now_ms() >= next_call_) {
      out_ = conversation_.more();
      next_call_ = now_ms() + options_.pause_ms;
    }
    if (conversation_.finished() && child_.in >= 0) {
      how = "done";
      close_input();
    }
    goes_on =
        step(options_.pause_ms > 0 && !conversation_.full() ? static_cast<int>(options_.pause_ms) : 1000);
    if (now_ms() - last_news_ > kPatienceMs) {
      how = conversation_.waits() ? "stuck" : "never ended";
      kill(child_.pid, SIGKILL);
      goes_on = false;
    }
  }
  close_input();
  int status = 0;
  while (waitpid(child_.pid, &status, 0) < 0 && errno == EINTR) {
  }
  conversation_.print(how, WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
  return 0;
}

/// False at the end of the shim's output.
bool Client::step(int wait_ms) {
  pollfd polled[2] = {{child_.out, POLLIN, 0}, {out_.empty() ? -1 : child_.in, POLLOUT, 0}};
  if (poll(polled, 2, wait_ms) <= 0) return true;
  if (polled[1].revents != 0) write_some();
  return polled[0].revents == 0 || read_some();
}

void Client::close_input() {
  if (child_.in >= 0) close(child_.in);
  child_.in = -1;
  conversation_.take_back(out_);
  out_.clear();
}

void Client::write_some() {
  const ssize_t put = write(child_.in, out_.data(), out_.size());
  if (put > 0) out_.erase(0, static_cast<std::size_t>(put));
  if (put < 0 && errno != EAGAIN && errno != EINTR) close_input();  // the end of the output follows
}

bool Client::read_some() {
  static char bytes[65536];
  const ssize_t got = read(child_.out, bytes, sizeof bytes);
  if (got < 0 && errno == EINTR) return true;
  if (got <= 0) return false;
  last_news_ = now_ms();
  in_.append(bytes, static_cast<std::size_t>(got));
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = in_.find('\n', begin)) != std::string::npos; begin = end + 1) {
    conversation_.heard(in_.substr(begin, end - begin));
  }
  in_.erase(0, begin);
  return true;
}

}  // namespace
}  // namespace corral::fakes

int main(int argc, char** argv) {
  using namespace corral::fakes;
  const ClientOptions options = parse(argc, argv);
  prctl(PR_SET_NAME, "chaos-client");
  end_by_itself(Deadline::in_seconds(60));
  Client client(options);
  signal(SIGPIPE, SIG_IGN);  // after the start: the shim gets the default
  return client.run();
}
