#include "session/session_end.h"

#include "wire/error_codes.h"

namespace corral::session {
namespace {

// For the last answers of a client that has closed its output already.
constexpr std::chrono::seconds kLastAnswers{60};

}  // namespace

void SessionEnd::input_ended() {
  parts_.opening.stop_patience();
  last_answers_.start(kLastAnswers, [this] { end(EndReason::InputClosed, {}); });
  parts_.crossing.client_ended();
  if (router::Router* const router = parts_.attachment.router()) {
    router->questions().client_silent(parts_.session);
  }
  end_if_answered();
}

void SessionEnd::end_if_answered() {
  const Attachment& attachment = parts_.attachment;
  if (ended_ || server_lost_ || parts_.session.may_ask()) return;
  if (attachment.phase() == Phase::Opening || !parts_.deferred.empty()) return;
  if (attachment.router() != nullptr && attachment.router()->calls_of(parts_.session) > 0) return;
  if (parts_.crossing.holds_calls()) return;
  end(EndReason::InputClosed, {});
}

void SessionEnd::end_with_server(int code, const std::string& why) {
  server_lost_ = true;
  parts_.attachment.detach();
  if (ended_) return;
  parts_.crossing.end();  // it may hold calls that no router knows
  refuse_deferred(wire::kServerLost, why);
  stop_parts();
  parts_.transport.close(Transport::Close::Flushed);
  parts_.transport.exit(code, why);
}

void SessionEnd::end(EndReason reason, const WhenEnded& when_ended) {
  const bool orderly = haste_of(reason) == instance::Instance::Haste::Polite;
  if (ended_) {
    if (!orderly) parts_.pool.hasten(parts_.session.id());
    if (when_ended) when_ended(nullptr);
    return;
  }
  parts_.record.reason = reason_name(reason);
  if (orderly) refuse_all("the session is ending: " + std::string(parts_.record.reason));
  stop_parts();
  auto exit = lifetime_.guard([this, reason] {
    if (reason == EndReason::Removed) return parts_.transport.exit(1, parts_.attachment.withdrawn());
    parts_.transport.exit(0, reason == EndReason::SessionEnded ? "the session ended" : "");
  });
  const bool waits = parts_.pool.release(
      parts_.session, haste_of(reason),
      [when_ended, exit](const pool::InstanceEnd& ended) mutable {
        if (when_ended) when_ended(&ended);
        exit();
      },
      reason == EndReason::SessionEnded ? pool::Ends::SessionObject : pool::Ends::Session);
  parts_.attachment.detach();
  parts_.transport.close(orderly ? Transport::Close::Flushed : Transport::Close::AtOnce);
  if (waits) return;
  if (when_ended) when_ended(nullptr);
  exit();
}

/// The client still reads, and gets an answer to every call.
void SessionEnd::refuse_all(const std::string& why) {
  if (router::Router* const router = parts_.attachment.router()) {
    router->give_up_calls(parts_.session, wire::kShuttingDown, why);
  }
  parts_.crossing.end();
  if (parts_.opening.waits()) {
    const Deferred::Entry request = parts_.opening.release();
    if (!parts_.opening.cancelled()) {
      parts_.transport.send_error(request.message.id(), wire::kShuttingDown, why);
    }
  }
  refuse_deferred(wire::kShuttingDown, why);
}

void SessionEnd::refuse_deferred(int code, const std::string& why) {
  for (const std::string& id : parts_.deferred.take_request_ids()) parts_.transport.send_error(id, code, why);
}

void SessionEnd::stop_parts() {
  ended_ = true;
  parts_.crossing.stop();
  parts_.opening.stop_patience();
  last_answers_.cancel();
  parts_.transport.pause();
}

}  // namespace corral::session
