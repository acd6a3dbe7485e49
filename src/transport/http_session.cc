#include "transport/http_session.h"

#include <utility>

#include "base/log.h"
#include "transport/http_refusal.h"
#include "wire/error_codes.h"

namespace corral::transport {

HttpSession::HttpSession(Loop& loop, const HttpLimits& limits, Gone gone)
    : loop_(loop), limits_(limits), gone_(std::move(gone)) {}

void HttpSession::destroy_session() {
  closed_ = true;
  exited_ = true;
  session_.reset();
}

// ---- posts that wait

void HttpSession::queue(const std::shared_ptr<http::Exchange>& exchange, const Posted& posted) {
  const std::string_view request = posted.message.id();
  if (waiting_.full(limits_.waiting)) {
    return refuse_post(exchange.get(),
                       {503, wire::kTooManyCalls,
                        "the server has not caught up with this session's messages: try again later"},
                       request);
  }
  Account* const account = session_->account();
  if (!waiting_.push(exchange, posted, account)) {
    return refuse_post(exchange.get(), {503, wire::kTooManyCalls, account->objection(Good::Bytes)}, request);
  }
  exchange->when_gone(lifetime_.guard([this, which = exchange.get()] { waiting_.lose(which); }));
}

void HttpSession::resume() {
  paused_ = false;
  if (!waiting_.empty()) take_waiting_soon();
}

void HttpSession::take_waiting_soon() {
  if (std::exchange(taking_soon_, true)) return;
  loop_.post(lifetime_.guard([this] { take_waiting(); }));
}

void HttpSession::take_waiting() {
  taking_soon_ = false;
  while (!paused_ && !closed_) {
    std::optional<WaitingPost> next = waiting_.pop();
    if (!next) return;
    take(std::move(*next));
  }
}

// ---- to the client

void HttpSession::report_drained(std::size_t queued) {
  if (!closed_ && marks_.fell(queued)) session_->output_drained();
}

void HttpSession::note(const std::string& sentence) {
  if (sentence == last_note_) return;
  last_note_ = sentence;
  Account* const account = session_->account();
  const auto line = account == nullptr ? std::optional(sentence) : account->loggable(sentence);
  if (line) log_line(*line);
}

// ---- the end

void HttpSession::exit(int, const std::string&) {
  if (std::exchange(exited_, true)) return;
  loop_.post(lifetime_.guard([this] {
    const Gone gone = std::move(gone_);  // outlives this object
    gone(*this);
  }));
}

}  // namespace corral::transport
