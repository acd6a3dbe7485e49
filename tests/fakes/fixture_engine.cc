// Lines, time, and the requests that both eras know.
#include "fixture_engine.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

namespace corral::fakes {
namespace {

void add_first(std::string& object, const std::string& members) {
  const bool empty = object == "{}";
  object.insert(1, empty ? members : members + ',');
}

/// Modern results say what they are, and lists how long they are good for.
std::string in_modern_words(std::string_view method, std::string result) {
  const bool cacheable =
      method == "server/discover" || method.ends_with("/list") || method == "resources/read";
  if (result.find(R"("resultType":"input_required")") != std::string::npos) return result;
  if (cacheable) add_first(result, R"("ttlMs":0,"cacheScope":"private")");
  add_first(result, R"("resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":)"
                    R"({"name":"fixture","version":"1.0.0"}})");
  return result;
}

}  // namespace

void say(const std::string& line) {
  const std::string whole = line + '\n';
  std::string_view left = whole;
  while (!left.empty()) {
    const ssize_t put = write(STDOUT_FILENO, left.data(), left.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) _exit(0);
    left.remove_prefix(static_cast<std::size_t>(put));
  }
}

void FixtureEngine::serve() {
  std::string buffer;
  std::vector<char> bytes(65536);
  for (;;) {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    if (poll(&input, 1, next_timeout()) > 0) {
      const ssize_t got = read(STDIN_FILENO, bytes.data(), bytes.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return;
      buffer.append(bytes.data(), static_cast<std::size_t>(got));
    }
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = buffer.find('\n', begin)) != std::string::npos; begin = end + 1) {
      take(buffer.substr(begin, end - begin));
    }
    buffer.erase(0, begin);
    run_timers();
  }
}

void FixtureEngine::after(long ms, std::function<void()> action) {
  timers_.emplace(Clock::now() + std::chrono::milliseconds(ms), std::move(action));
}

int FixtureEngine::next_timeout() const {
  if (timers_.empty()) return -1;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(timers_.begin()->first - Clock::now()).count();
  return left < 0 ? 0 : static_cast<int>(left);
}

void FixtureEngine::run_timers() {
  while (!timers_.empty() && timers_.begin()->first <= Clock::now()) {
    const std::function<void()> action = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    action();
  }
}

void FixtureEngine::take(const std::string& line) {
  const std::string id(value_at(line, {"id"}));
  const std::string_view method = text_at(line, {"method"});
  const std::string_view params = value_at(line, {"params"});
  if (method.empty()) return take_answer(id, line);
  if (id.empty()) return take_notification(method, params);
  take_request(id, method, params);
}

void FixtureEngine::take_notification(std::string_view method, std::string_view params) {
  if (method == "notifications/cancelled") cancel(std::string(value_at(params, {"requestId"})));
}

void FixtureEngine::take_request(const std::string& id, std::string_view method, std::string_view params) {
  const bool taken =
      world_.era == Era::Modern ? take_modern(id, method, params) : take_legacy(id, method, params);
  if (!taken) take_common(id, method, params);
}

void FixtureEngine::take_common(const std::string& id, std::string_view method, std::string_view params) {
  if (method == "tools/list") return reply(id, method, R"({"tools":)" + list_tools(world_) + '}');
  if (method == "prompts/list") return reply(id, method, R"({"prompts":)" + list_prompts(world_) + '}');
  if (method == "resources/list") return reply(id, method, R"({"resources":)" + list_resources() + '}');
  if (method == "resources/templates/list") {
    return reply(id, method, R"({"resourceTemplates":)" + list_templates() + '}');
  }
  if (method == "completion/complete") {
    return reply(id, method,
                 R"({"completion":{"values":["paris","park","party"],"total":150,"hasMore":false}})");
  }
  if (method == "tools/call" || method == "prompts/get" || method == "resources/read") {
    return begin(id, method, params);
  }
  fail(id, error(-32601, "Method not found: " + std::string(method)));
}

void FixtureEngine::reply(const std::string& id, std::string_view method, std::string_view result) {
  std::string body(result);
  if (world_.era == Era::Modern) body = in_modern_words(method, std::move(body));
  say(R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":)" + body + '}');
}

void FixtureEngine::fail(const std::string& id, const Outcome& outcome) {
  say(R"({"jsonrpc":"2.0","id":)" + id + R"(,"error":)" + outcome.error + '}');
}

}  // namespace corral::fakes
