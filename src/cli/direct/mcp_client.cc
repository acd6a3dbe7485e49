#include "cli/direct/mcp_client.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/units.h"
#include "version.h"
#include "wire/error_codes.h"
#include "wire/json_writer.h"
#include "wire/revisions.h"

namespace corral::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// The largest accepted message; a larger one is of no use on a command line.
constexpr std::size_t kLongestLine = std::size_t{256} << 20;
// Time to send the cancellation of a call before the session is closed.
constexpr milliseconds kLastWords{500};

std::string request(std::uint64_t id, std::string_view method, std::string_view params) {
  return wire::request_message(std::to_string(id), method, params);
}

constexpr const char* kVisitFirst = "-32042";  // 2025-11-25: the user must visit a URL before the call

std::string addresses_in(std::string_view error) {
  const std::string_view data = wire::member(error, "data").in(error);
  const std::string_view wishes = wire::member(data, "elicitations").in(data);
  std::string text;
  constexpr std::size_t kMostWishes = 16;
  for (const wire::Span each :
       wire::array_elements(wishes, kMostWishes).value_or(std::vector<wire::Span>())) {
    const std::string_view wish = each.in(wishes);
    const auto url = wire::string_value(wire::member(wish, "url").in(wish));
    if (url) text += (text.empty() ? "" : " and ") + *url;
  }
  return text.empty() ? "" : "; visit " + text + ", then call again";
}

/// An error from the server, or from the daemon on its behalf.
Answer refused(std::string_view error) {
  const std::string_view code = wire::member(error, "code").in(error);
  const std::string_view said = wire::member(error, "message").in(error);
  Answer answer{Answer::Kind::Error, std::string(error), wire::string_value(said).value_or("no reason given"),
                kProtocolError};
  const auto is = [code](int number) { return code == std::to_string(number); };
  if (is(wire::kServerLost) || is(wire::kShuttingDown)) answer.exit_code = kNotReached;
  if (is(wire::kCallTimedOut)) answer.exit_code = kTimedOut;
  if (answer.exit_code == kProtocolError) answer.message += " (error " + std::string(code) + ")";
  if (code == kVisitFirst) answer.message += addresses_in(error);
  return answer;
}

Answer accepted(std::string_view result) {
  if (result.starts_with('{')) return {Answer::Kind::Result, std::string(result), "", 0};
  return {Answer::Kind::Error, "", "the server's result is not an object", kProtocolError};
}

int milliseconds_to(McpClient::Time deadline) {
  const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now()).count();
  return static_cast<int>(std::clamp<long>(left, 0, 60'000));
}

}  // namespace

struct McpClient::Open {
  std::string id;
  bool cancellable = true;
  Time deadline;
  std::optional<Answer> answer = std::nullopt;
};

McpClient::McpClient(Interrupts& interrupts, Hooks hooks, milliseconds timeout)
    : interrupts_(interrupts), hooks_(std::move(hooks)), timeout_(timeout), reader_(kLongestLine) {}

Answer McpClient::begin(const std::vector<std::string>& args, const ChildPlace* place) {
  Result<ConnectChild> child = ConnectChild::start(args, interrupts_, place);
  if (!child) return {Answer::Kind::Lost, "", child.error().message, kNotReached};
  child_.emplace(std::move(*child));
  return handshake();
}

Answer McpClient::handshake() {
  const std::string capabilities = hooks_.elicit ? R"({"elicitation":{"form":{},"url":{}}})" : "{}";
  // We wait for a slow server, so the daemon need not answer in its place.
  const std::string params =
      wire::JsonObject()
          .raw("_meta", R"({"dev.corral/waits":true})")
          .text("protocolVersion", wire::kNewestLegacy)
          .raw("capabilities", capabilities)
          .raw("clientInfo", wire::JsonObject().text("name", "corral").text("version", kVersion).json())
          .json();
  Open open{std::to_string(++last_id_), false, steady_clock::now() + timeout_};
  send(request(last_id_, "initialize", params));
  Answer answer = wait_for(open);
  if (!answer.ok()) return answer;
  const std::string_view version = wire::member(answer.json, "protocolVersion").in(answer.json);
  if (!wire::is_legacy_version(wire::string_value(version).value_or(""))) {
    answer.message = "the server answered initialize with revision " +
                     (version.empty() ? "none" : std::string(version)) + ", which corral does not support";
    answer.kind = Answer::Kind::Error;
    answer.exit_code = kProtocolError;
    return answer;
  }
  initialized_ = answer.json;
  send(wire::notification_message("notifications/initialized"));
  return answer;
}

Answer McpClient::ask(std::string_view method, const std::string& params) {
  if (lost()) return lose();
  const std::string id = std::to_string(++last_id_);
  std::string body = params;
  if (hooks_.progress) {
    const std::string meta = R"("_meta":{"progressToken":)" + id + "}";
    body.insert(1, meta + (params.find_first_not_of(' ', 1) == params.size() - 1 ? "" : ","));
  }
  Open open{id, true, steady_clock::now() + timeout_};
  send(request(last_id_, method, body));
  return wait_for(open);
}

bool McpClient::has_capability(std::string_view name) const {
  const std::string_view all = wire::member(initialized_, "capabilities").in(initialized_);
  return wire::member(all, name).present();
}

void McpClient::end() {
  if (!child_) return;
  child_->end();
  child_.reset();
}

// ---- waiting

Answer McpClient::wait_for(Open& open) {
  while (!open.answer) {
    if (const int signo = interrupts_.signal(); signo != 0) {
      cancel(open, "interrupted by the user");
      return {Answer::Kind::Interrupted, "", "interrupted", 128 + signo};
    }
    if (steady_clock::now() >= open.deadline) {
      cancel(open, "timeout");
      return {Answer::Kind::TimedOut, "", "no answer within " + show_age(timeout_) + " (--timeout)",
              kTimedOut};
    }
    if (!exchange(open)) return lose();
  }
  return std::move(*open.answer);
}

bool McpClient::exchange(Open& open) {
  flush();
  std::array<pollfd, 3> ready = {pollfd{interrupts_.fd(), POLLIN, 0}, pollfd{child_->output(), POLLIN, 0},
                                 pollfd{outgoing_.empty() ? -1 : child_->input(), POLLOUT, 0}};
  if (poll(ready.data(), ready.size(), milliseconds_to(open.deadline)) < 0) return true;
  if (ready[1].revents == 0) return true;
  receive(open);
  return open.answer.has_value() || !ended_;
}

void McpClient::receive(Open& open) {
  static std::array<char, 65536> scratch;
  const std::span<char> room = reader_.room(scratch);
  const ssize_t got = read(child_->output(), room.data(), room.size());
  if (got > 0) {
    reader_.took(static_cast<std::size_t>(got));
  } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
    ended_ = true;
  }
  while (const std::optional<wire::Line> line = reader_.next()) take(wire::Message(*line), open);
  handle_oversized(open);
  flush();  // replies to the server's own requests must not wait for our next request
}

void McpClient::listen() {
  Open nothing{"", false, steady_clock::now()};
  receive(nothing);
}

/// Sends what the pipe accepts now; the rest follows later. A child that has exited is noticed when its
/// output ends.
void McpClient::flush() {
  while (!outgoing_.empty()) {
    const ssize_t put = write(child_->input(), outgoing_.data() + sent_, outgoing_.size() - sent_);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EAGAIN) return;
    sent_ = put < 0 ? outgoing_.size() : sent_ + static_cast<std::size_t>(put);
    drop_sent();
  }
}

/// Called rarely, so that the rest of a large message is not moved after each partial write.
void McpClient::drop_sent() {
  if (sent_ <= outgoing_.size() / 2) return;
  outgoing_.erase(0, sent_);
  sent_ = 0;
}

void McpClient::cancel(const Open& open, const char* reason) {
  if (!child_ || ended_) return;
  if (!open.cancellable || interrupts_.signal() != 0) child_->hurry();
  if (!open.cancellable) return;
  send(wire::cancelled_message(open.id, reason));
  const Time until = steady_clock::now() + kLastWords;
  for (flush(); !outgoing_.empty() && steady_clock::now() < until; flush()) {
    pollfd ready{child_->input(), POLLOUT, 0};
    poll(&ready, 1, milliseconds_to(until));
  }
}

Answer McpClient::lose() {
  std::string how = "it exited first";
  if (child_) {
    const int code = child_->end();
    child_.reset();
    if (code != 0) how = "it exited with code " + std::to_string(code);
  }
  ended_ = true;
  return {Answer::Kind::Lost, "", "no answer from the server: " + how, kNotReached};
}

// ---- receiving

void McpClient::take(const wire::Message& message, Open& open) {
  switch (message.kind()) {
    case wire::Kind::Response:
      if (message.id() != open.id || open.answer) return;
      open.answer = message.has_error() ? refused(message.error()) : accepted(message.result());
      return;
    case wire::Kind::Request: return handle_request(message, open);
    case wire::Kind::Notification: return handle_notification(message, open);
    default: return;  // invalid: `corral connect` has reported it, if there is a daemon
  }
}

void McpClient::handle_request(const wire::Message& message, Open& open) {
  const std::string_view id = message.id();
  const std::string_view method = message.method();
  if (method == "ping") return send(wire::result_message(id, "{}"));
  const bool in_a_call = !open.id.empty() && !open.answer;
  if (method != "elicitation/create" || !hooks_.elicit || !in_a_call) {
    return send(wire::error_message(id, wire::kMethodNotFound, "this client does not support this method"));
  }
  const Time began = steady_clock::now();
  const std::optional<std::string> result = hooks_.elicit(message.params());
  if (result) send(wire::result_message(id, *result));
  open.deadline += steady_clock::now() - began;  // the user may take as long as needed
}

void McpClient::handle_notification(const wire::Message& message, const Open& open) {
  const std::string_view method = message.method();
  if (method == "notifications/progress" && hooks_.progress && message.direct_token() == open.id) {
    hooks_.progress(message.params());
  }
  if (method == "notifications/tools/list_changed") ++changes_of_tools_;
  if (method == "notifications/message" && hooks_.log) hooks_.log(message.params());
}

void McpClient::handle_oversized(Open& open) {
  while (const std::optional<wire::Oversized> line = reader_.take_oversized()) {
    if (line->id != open.id) continue;
    open.answer = Answer{
        Answer::Kind::Error, "",
        "the answer is too large: " + show_size(line->bytes) + "; the limit is " + show_size(kLongestLine),
        kProtocolError};
  }
}

}  // namespace corral::cli
