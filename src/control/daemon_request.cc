#include "control/daemon_request.h"

#include <algorithm>
#include <utility>

#include "version.h"

namespace corral::control {
namespace {

using AnswerKind = DaemonAnswer::Kind;
using std::chrono::milliseconds;

constexpr std::chrono::seconds kLateAfter{10};

bool is_refusal(const Reply& reply) {
  return reply.kind == Reply::Kind::Refused || reply.kind == Reply::Kind::RunIt;
}

/// Status and shutdown are older than `Result` and have their own replies. Their refusals are short, so a
/// prefix names the daemon.
DaemonAnswer read_reply(Verb verb, const Reply& reply) {
  switch (verb) {
    case Verb::Status:
      if (reply.kind == Reply::Kind::Status) return {AnswerKind::Ok, reply.text};
      return {AnswerKind::Refused, "the daemon refuses: " + reply.text};
    case Verb::Shutdown:
      if (!is_refusal(reply)) return {AnswerKind::Ok, reply.text};
      return {AnswerKind::Refused, "the daemon refuses: " + reply.text};
    default: break;
  }
  switch (reply.kind) {
    case Reply::Kind::Result: return {AnswerKind::Ok, reply.text};
    case Reply::Kind::Exit: return {AnswerKind::HungUp, reply.text.empty() ? hung_up().message : reply.text};
    case Reply::Kind::RunIt: return {AnswerKind::Busy, reply.text};
    default: return {AnswerKind::Refused, reply.text};
  }
}

DaemonAnswer not_connected(const Error& error, Purpose purpose) {
  if (error.kind == Error::Kind::NotFound) return {AnswerKind::NoDaemon, no_daemon_is_running(purpose)};
  return {AnswerKind::Unreachable, error.message};
}

DaemonAnswer silence() { return {AnswerKind::Silent, "the daemon does not answer"}; }

}  // namespace

Purpose purpose_of(Verb verb) {
  switch (verb) {
    case Verb::Events: return Purpose::Recall;
    case Verb::Restart:
    case Verb::Stop:
    case Verb::Start: return Purpose::Change;
    case Verb::Reload: return Purpose::Adopt;
    case Verb::SessionCreate:
    case Verb::SessionEnd:
    case Verb::SessionList: return Purpose::Own;
    case Verb::Shutdown: return Purpose::End;
    case Verb::Connect:
    case Verb::Status:
    case Verb::Info:
    case Verb::Metrics: break;
  }
  return Purpose::Show;
}

std::string no_daemon_is_running(Purpose purpose) {
  std::string fact = "no daemon is running";
  switch (purpose) {
    case Purpose::Show:
      return fact +
             "; the first `corral connect` starts one, or `corral serve --background`, and `corral ps "
             "--last` "
             "shows what ran last";
    case Purpose::Recall: return fact + "; `corral serve --background` starts one";
    case Purpose::Change:
      return fact + "; none of its servers is, either, and the next `corral connect` starts both";
    case Purpose::Adopt: return fact + "; the next one will read the file";
    case Purpose::Own: return fact + "; there is no session object, and `corral session create` starts both";
    case Purpose::Listen:
      return fact +
             "; `corral serve --background` starts one, `corral service install` installs it as a "
             "service";
    case Purpose::End: break;
  }
  return fact;
}

Hello status_hello(Measure measure) {
  Hello hello = verb_hello(Verb::Status);
  hello.measure = measure == Measure::Yes;
  return hello;
}

Hello verb_hello(Verb verb, const std::string& server) {
  Hello hello;
  hello.verb = verb;
  hello.server = server;
  return hello;
}

DaemonRequest::DaemonRequest(const std::string& runtime_dir, Hello hello, milliseconds patience)
    : verb_(hello.verb), deadline_(Clock::now()) {
  Result<ControlSocket> socket = connect_to_daemon(runtime_dir);
  if (!socket) {
    failure_ = not_connected(socket.error(), purpose_of(verb_));
    return;
  }
  socket_.emplace(std::move(*socket));
  send(std::move(hello), patience);
}

DaemonRequest::DaemonRequest(ControlSocket socket, Hello hello, milliseconds patience)
    : verb_(hello.verb), deadline_(Clock::now()), socket_(std::move(socket)) {
  send(std::move(hello), patience);
}

void DaemonRequest::send(Hello hello, milliseconds patience) {
  hello.version = kVersion;
  const Result<void> sent = socket_->send(hello);
  deadline_ = Clock::now() + patience;
  if (sent) return;
  failure_ = DaemonAnswer{AnswerKind::Unreachable, sent.error().message};
  deadline_ = Clock::now();
  socket_.reset();
}

/// Nothing for a `Note`: the answer follows it.
std::optional<DaemonAnswer> DaemonRequest::answer_in(const Result<Reply>& reply) const {
  if (reply && reply->kind == Reply::Kind::Note) return std::nullopt;
  if (reply) return read_reply(verb_, *reply);
  if (reply.error().kind != Error::Kind::NotFound)
    return DaemonAnswer{AnswerKind::Garbled, reply.error().message};
  // The end of the connection is the expected answer to a shutdown.
  return DaemonAnswer{verb_ == Verb::Shutdown ? AnswerKind::Ok : AnswerKind::HungUp,
                      verb_ == Verb::Shutdown ? "" : reply.error().message};
}

std::optional<DaemonAnswer> DaemonRequest::poll() {
  if (failure_) return failure_;
  const bool open = socket_->read_some();
  while (const std::optional<Result<Reply>> reply = socket_->take()) {
    if (std::optional<DaemonAnswer> answer = answer_in(*reply)) return answer;
  }
  if (!open) return answer_in(hung_up());
  if (Clock::now() < deadline_) return std::nullopt;
  return silence();
}

DaemonAnswer DaemonRequest::wait(const Late& late) {
  if (failure_) return *failure_;
  for (;;) {
    const auto left = std::chrono::duration_cast<milliseconds>(deadline_ - Clock::now());
    const bool last_piece = !late || left <= kLateAfter;
    const Result<Reply> reply = socket_->receive(last_piece ? std::max(left, milliseconds(0)) : kLateAfter);
    if (reply || !socket_->timed_out()) {
      if (std::optional<DaemonAnswer> answer = answer_in(reply)) return std::move(*answer);
      continue;
    }
    if (last_piece) return silence();
    const Result<void> go_on = late();
    if (!go_on) return {AnswerKind::Silent, go_on.error().message};
  }
}

DaemonAnswer look_for_daemon(const std::string& runtime_dir) {
  const Result<ControlSocket> socket = connect_to_daemon(runtime_dir);
  return socket ? DaemonAnswer{AnswerKind::Ok, ""} : not_connected(socket.error(), Purpose::Show);
}

DaemonAnswer ask_daemon(const std::string& runtime_dir, Hello hello, milliseconds patience,
                        const DaemonRequest::Late& late) {
  return DaemonRequest(runtime_dir, std::move(hello), patience).wait(late);
}

}  // namespace corral::control
