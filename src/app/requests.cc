#include "app/requests.h"

#include <algorithm>
#include <utility>

#include "version.h"

namespace corral::app {
namespace {

using control::Reply;

/// The answer itself; notes on the way are not for us.
Result<Reply> ask(control::Channel& channel, control::Hello hello, std::chrono::milliseconds patience) {
  hello.version = kVersion;
  hello.protocol = control::protocol_for(hello);
  const Result<void> sent = channel.send(hello);
  if (!sent) return sent.error();
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    Result<Reply> reply = channel.receive(std::max(left, std::chrono::milliseconds(0)));
    if (!reply || reply->kind != Reply::Kind::Note) return reply;
  }
}

Result<Reply> ask(control::Channel& channel, control::Verb verb, std::chrono::milliseconds patience) {
  control::Hello hello;
  hello.verb = verb;
  return ask(channel, std::move(hello), patience);
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

Result<std::string> ask_to_shut_down(control::Channel& channel, std::chrono::milliseconds patience) {
  const Result<Reply> reply = ask(channel, control::Verb::Shutdown, patience);
  if (!reply && reply.error().kind == Error::Kind::NotFound)
    return {boost::system::in_place_value};  // it went without a word
  if (!reply) return reply.error();
  if (reply->kind == Reply::Kind::Refused || reply->kind == Reply::Kind::RunIt) {
    return Error{"the daemon refuses: " + reply->text};
  }
  return {boost::system::in_place_value, reply->text};
}

Result<std::string> ask_for_result(control::Channel& channel, control::Hello hello,
                                   std::chrono::milliseconds patience) {
  const Result<Reply> reply = ask(channel, std::move(hello), patience);
  if (!reply) return reply.error();
  if (reply->kind != Reply::Kind::Result) return Error{reply->text};
  return {boost::system::in_place_value, reply->text};
}

}  // namespace corral::app
