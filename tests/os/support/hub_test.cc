#include "support/hub_test.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "support/eventually.h"

namespace corral::os_tests {
namespace {

using std::chrono::steady_clock;

bool wait_for(int fd, short events) {
  pollfd polled{fd, events, 0};
  return poll(&polled, 1, 100) > 0;
}

void set_nonblocking(int fd, bool on) {
  const int flags = fcntl(fd, F_GETFL);
  fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK);
}

std::string quoted_list(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "\"" : ",\"") + word + "\"";
  return text;
}

}  // namespace

std::string field(const std::string& line, const std::string& name) {
  const std::string key = '"' + name + "\":";
  const std::size_t at = line.find(key);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + key.size();
  if (line[begin] != '"') return line.substr(begin, line.find_first_of(",}", begin) - begin);
  return line.substr(begin + 1, line.find('"', begin + 1) - begin - 1);
}

// ---- the client

bool McpClient::send(const std::string& line) { return send_bytes(line + '\n'); }

bool McpClient::send_bytes(const std::string& bytes) {
  const auto deadline = steady_clock::now() + kPatience;
  std::size_t sent = 0;
  while (sent < bytes.size() && steady_clock::now() < deadline) {
    const std::size_t put = send_until_full(bytes.substr(sent), bytes.size() - sent);
    if (put == 0 && errno != EAGAIN) return false;
    sent += put;
    if (put == 0) wait_for(session_.stdin_fd(), POLLOUT);
  }
  return sent == bytes.size();
}

/// The pipe itself is shared with its reader, so it is left as it was found.
std::size_t McpClient::send_until_full(const std::string& bytes, std::size_t most) {
  const int fd = session_.stdin_fd();
  std::size_t sent = 0;
  set_nonblocking(fd, true);
  int error = 0;
  while (sent < most) {
    const std::size_t offset = sent % bytes.size();
    const ssize_t put = write(fd, bytes.data() + offset, std::min(bytes.size() - offset, most - sent));
    error = put < 0 ? errno : 0;
    if (put > 0) sent += static_cast<std::size_t>(put);
    if (put < 0 && errno != EINTR) break;
  }
  set_nonblocking(fd, false);
  errno = error;
  return sent;
}

bool McpClient::initialize() {
  const int id = ++last_id_;
  send(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
       R"(,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},)" +
       R"("clientInfo":{"name":"hub-test","version":"0"}}})");
  const std::string answer = answer_to(id);
  send(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  return answer.find("\"serverInfo\"") != std::string::npos;
}

int McpClient::begin(const std::string& tool, const std::string& arg) {
  const int id = ++last_id_;
  send(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"tools/call","params":{"name":")" +
       tool + R"(","arguments":{"arg":")" + arg + R"("}}})");
  return id;
}

int McpClient::begin_with_progress(const std::string& tool, const std::string& arg) {
  const int id = ++last_id_;
  send(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
       R"(,"method":"tools/call","params":{"_meta":{"progressToken":"mine"},"name":")" + tool +
       R"(","arguments":{"arg":")" + arg + R"("}}})");
  return id;
}

std::string McpClient::answer_to(int id) { return answer_to(std::to_string(id)); }

std::string McpClient::answer_to(const std::string& id) {
  const auto deadline = steady_clock::now() + kPatience;
  for (;;) {
    sort_lines();
    if (const auto found = answers_.extract(id)) return found.mapped();
    if (ended_ || steady_clock::now() >= deadline) return {};
    if (wait_for(session_.stdout_fd(), POLLIN)) read_some(65536);
  }
}

std::string McpClient::call(const std::string& tool, const std::string& arg) {
  const std::string line = answer_to(begin(tool, arg));
  return line.find("\"error\":") == std::string::npos ? field(line, "text") : line;
}

bool McpClient::reads_to_end() {
  const auto deadline = steady_clock::now() + kPatience;
  while (!ended_ && steady_clock::now() < deadline) {
    if (wait_for(session_.stdout_fd(), POLLIN)) read_some(65536);
    sort_lines();
  }
  return ended_;
}

void McpClient::sip(std::size_t bytes) {
  if (wait_for(session_.stdout_fd(), POLLIN)) read_some(bytes);
}

void McpClient::read_some(std::size_t most) {
  char bytes[65536];
  const ssize_t got = read(session_.stdout_fd(), bytes, std::min(most, sizeof bytes));
  if (got <= 0) {
    ended_ = true;
  } else {
    buffer_.append(bytes, static_cast<std::size_t>(got));
  }
}

/// A second answer to one id does not count; tests look for it among the others.
void McpClient::sort_lines() {
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = buffer_.find('\n', std::max(begin, searched_));
    if (end == std::string::npos) break;
    std::string line = buffer_.substr(begin, end - begin);
    begin = end + 1;
    const std::string head = line.substr(0, 200);
    const bool is_answer = head.find("\"method\":") == std::string::npos && line.starts_with('{');
    const std::string id = is_answer ? field(head, "id") : "";
    if (id.empty() || !answers_.emplace(id, line).second) others_.push_back(std::move(line));
  }
  buffer_.erase(0, begin);
  searched_ = buffer_.size();
}

// ---- the hub

void HubTest::SetUp() {
  DaemonTest::SetUp();
  // Beside the test's files, because a checkout below a private home is closed to the ordinary user.
  std::filesystem::copy_file(RUDE_SERVER_BIN, path("rude_server"));
  chmod(path("rude_server").c_str(), 0755);
}

std::vector<std::string> HubTest::rude(const std::vector<std::string>& words) const {
  std::vector<std::string> line = {path("rude_server"), "--tag=" + tag()};
  line.insert(line.end(), words.begin(), words.end());
  return line;
}

void HubTest::add_server(const std::string& name, const std::vector<std::string>& words,
                         const std::string& options) {
  const std::vector<std::string> line = rude(words);
  servers_ += (servers_.empty() ? "\"" : ",\"") + name + R"(":{"command":")" + line.front() +
              R"(","args":[)" + quoted_list({line.begin() + 1, line.end()}) +
              R"(],"env":{"CORRAL_TEST_TAG":")" + tag() + R"("},"corral":{)" + options + "}}";
}

void HubTest::start_daemon() {
  const std::string file = path("config.json");
  std::ofstream(file) << R"({"mcpServers":{)" << servers_ << R"(},"corral":{)" << top_ << "}}\n";
  chmod(file.c_str(), 0644);
  serving_ = std::make_unique<Serving>(serve({"--config", file}));
  ASSERT_TRUE(ready()) << errors();
}

Launch HubTest::connect(const std::vector<std::string>& words) const {
  std::vector<std::string> all = {"--config", path("config.json")};
  all.insert(all.end(), words.begin(), words.end());
  Launch launch = command("connect", all);
  launch.in = Stdio::Pipe;
  return launch;
}

Launch HubTest::connect_command(const std::vector<std::string>& words) const {
  std::vector<std::string> all = {"--"};
  const std::vector<std::string> line = rude(words);
  all.insert(all.end(), line.begin(), line.end());
  return connect(all);
}

std::string HubTest::status() const { return say("status", {"--json"}).out; }

long HubTest::counter(const std::string& name) const {
  const std::string text = status();
  const std::string key = '"' + name + "\":";
  long sum = -1;
  for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + 1)) {
    sum = std::max(sum, 0L) + std::atol(text.c_str() + at + key.size());
  }
  return sum;
}

long HubTest::memory_of_daemon() const {
  std::ifstream stream("/proc/" + std::to_string(daemon()) + "/smaps_rollup");
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("Pss:")) return std::atol(line.c_str() + 4);
  }
  return -1;
}

}  // namespace corral::os_tests
