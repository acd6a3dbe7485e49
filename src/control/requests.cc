#include "control/requests.h"

#include <algorithm>
#include <utility>

#include "version.h"

namespace corral::control {
namespace {

using control::Reply;

constexpr std::chrono::seconds kLateAfter{10};

/// Waits in pieces, so that somebody can say what is waited for.
Result<Reply> receive(control::Channel& channel, std::chrono::steady_clock::time_point deadline,
                      const Late& late) {
  using std::chrono::milliseconds;
  for (;;) {
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - std::chrono::steady_clock::now());
    const bool last_piece = !late || left <= kLateAfter;
    Result<Reply> reply = channel.receive(last_piece ? std::max(left, milliseconds(0)) : kLateAfter);
    if (reply || last_piece || !channel.timed_out()) return reply;
    const Result<void> go_on = late();
    if (!go_on) return go_on.error();
  }
}

/// The answer itself; notes on the way are not for us.
Result<Reply> ask(control::Channel& channel, control::Hello hello, std::chrono::milliseconds patience,
                  const Late& late = nullptr) {
  hello.version = kVersion;
  const Result<void> sent = channel.send(hello);
  if (!sent) return sent.error();
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    Result<Reply> reply = receive(channel, deadline, late);
    if (!reply || reply->kind != Reply::Kind::Note) return reply;
  }
}

}  // namespace

Result<std::string> ask_status(control::Channel& channel, std::chrono::milliseconds patience,
                               Measure measure) {
  control::Hello hello;
  hello.verb = control::Verb::Status;
  hello.measure = measure == Measure::Yes;
  const Result<Reply> reply = ask(channel, std::move(hello), patience);
  if (!reply) return reply.error();
  if (reply->kind != Reply::Kind::Status) return Error{"the daemon refuses: " + reply->text};
  return {boost::system::in_place_value, reply->text};
}

Result<std::string> ask_to_shut_down(control::Channel& channel, std::chrono::milliseconds patience,
                                     const Late& late) {
  control::Hello hello;
  hello.verb = control::Verb::Shutdown;
  const Result<Reply> reply = ask(channel, std::move(hello), patience, late);
  if (!reply && reply.error().kind == Error::Kind::NotFound)
    return {boost::system::in_place_value};  // it went without a word
  if (!reply) return reply.error();
  if (reply->kind == Reply::Kind::Refused || reply->kind == Reply::Kind::RunIt) {
    return Error{"the daemon refuses: " + reply->text};
  }
  return {boost::system::in_place_value, reply->text};
}

Result<std::string> ask_for_result(control::Channel& channel, control::Hello hello,
                                   std::chrono::milliseconds patience, const Late& late) {
  const Result<Reply> reply = ask(channel, std::move(hello), patience, late);
  if (!reply) return reply.error();
  if (reply->kind != Reply::Kind::Result) return Error{reply->text};
  return {boost::system::in_place_value, reply->text};
}

}  // namespace corral::control
