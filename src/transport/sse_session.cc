#include "transport/sse_session.h"

#include <algorithm>
#include <utility>

#include "http/sse.h"
#include "transport/http_refusal.h"
#include "wire/error_codes.h"

namespace corral::transport {
namespace {

void refuse_after_end(http::Exchange* exchange, std::string_view request) {
  refuse_post(exchange, {404, wire::kServerLost, "the session ended with its stream: open a new one"},
              request);
}

void accept_message(http::Exchange* exchange) {
  if (exchange != nullptr) exchange->reply({202, {{"Content-Type", "text/plain"}}, "Accepted", nullptr});
}

}  // namespace

SseSession::SseSession(Loop& loop, std::shared_ptr<http::Exchange> stream, std::string endpoint,
                       const HttpLimits& limits, Gone gone)
    : HttpSession(loop, limits, std::move(gone)),
      stream_(std::move(stream)),
      endpoint_(std::move(endpoint)),
      timer_(loop) {}

SseSession::~SseSession() {
  close(Close::AtOnce);
  destroy_session();
}

// ---- to the client

void SseSession::begin(std::unique_ptr<session::Session> session) {
  HttpSession::begin(std::move(session));
  stream_->when_gone(lifetime_.guard([this] { lost(); }));
  stream_->when_drained(lifetime_.guard([this] { report_drained(queued()); }));
  stream_->begin(200, http::event_stream_headers());
  write("endpoint", {endpoint_, nullptr});
  keep_alive();
}

void SseSession::send(const wire::Line& line, std::initializer_list<wire::Edit> edits) {
  const bool edits_made =
      std::any_of(edits.begin(), edits.end(), [](const wire::Edit& edit) { return edit.where.present(); });
  if (!edits_made) return write("message", line);
  const auto owner =
      std::make_shared<const std::string>(wire::edited(line.text, {edits.begin(), edits.size()}));
  write("message", {*owner, owner});
}

void SseSession::write(std::string_view name, const wire::Line& data) {
  if (!stream_) return;
  last_written_ = Clock::now();
  http::write_event(*stream_, {{}, name, data, std::nullopt});
  marks_.rose(queued());
}

void SseSession::keep_alive() {
  if (!stream_) return;
  const auto now = Clock::now();
  const bool silent = last_written_ + limits_.alive <= now;
  if (silent) last_written_ = now;
  if (silent && stream_->queued() == 0) http::write_comment(*stream_);  // otherwise the client is slow
  timer_.start(last_written_ + limits_.alive - now, [this] { keep_alive(); });
}

// ---- from the client

void SseSession::post(std::shared_ptr<http::Exchange> exchange, const Posted& posted) {
  if (closed_) return refuse_after_end(exchange.get(), posted.message.id());
  if (!must_wait()) return pass(exchange.get(), posted);
  if (const auto cancelled = waiting_.take_cancelled(posted)) {
    accept_message(cancelled->exchange.get());
    return accept_message(exchange.get());
  }
  queue(exchange, posted);
}

void SseSession::pass(http::Exchange* exchange, const Posted& posted) {
  const wire::Kind kind = posted.message.kind();
  if (kind == wire::Kind::NotJson || kind == wire::Kind::NotRpc) {
    return refuse_post(
        exchange, {400, wire::kInvalidRequest, "Invalid Request: " + std::string(posted.message.fault())},
        posted.message.id());
  }
  accept_message(exchange);
  session_->receive(posted.message);
}

// ---- closing

/// The stream is the only way to the client, so the session ends. Posted, because the caller that wrote is on
/// the stack.
void SseSession::lost() {
  closed_ = true;
  stream_ = nullptr;
  loop_.post(lifetime_.guard([this] {
    if (exited_) return;
    close(Close::AtOnce);
    session_->end(session::EndReason::OutputClosed);
  }));
}

void SseSession::close(Close how) {
  closed_ = true;
  timer_.cancel();
  const auto down = std::exchange(stream_, nullptr);
  if (down && how == Close::Flushed) down->finish();
  while (const auto next = waiting_.pop()) {
    refuse_after_end(next->exchange.get(), next->posted.message.id());
  }
}

}  // namespace corral::transport
