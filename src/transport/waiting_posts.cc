#include "transport/waiting_posts.h"

#include <algorithm>
#include <utility>

#include "transport/http_rules.h"
#include "wire/error_codes.h"

namespace corral::transport {

bool WaitingPosts::push(std::shared_ptr<http::Exchange> exchange, const Posted& posted, Account* account) {
  Account::Held held;
  if (account != nullptr) {
    auto taken = account->take(Good::Bytes, posted.message.text().size());
    if (!taken) return false;
    held = std::move(*taken);
  }
  bytes_ += posted.message.text().size();
  posts_.push_back({std::move(exchange), posted, std::move(held)});
  return true;
}

std::optional<WaitingPost> WaitingPosts::pop() {
  if (posts_.empty()) return std::nullopt;
  WaitingPost first = std::move(posts_.front());
  posts_.erase(posts_.begin());
  bytes_ -= first.posted.message.text().size();
  if (posts_.empty()) posts_.shrink_to_fit();
  return first;
}

void WaitingPosts::lose(const http::Exchange* exchange) {
  for (WaitingPost& post : posts_) {
    if (post.exchange.get() == exchange) post.exchange = nullptr;
  }
}

std::optional<WaitingPost> WaitingPosts::take_cancelled(const Posted& posted) {
  const wire::Message& by = posted.message;
  if (by.kind() != wire::Kind::Notification || !by.has_request_id() ||
      by.method() != "notifications/cancelled")
    return std::nullopt;
  const auto named = std::find_if(posts_.begin(), posts_.end(), [&](const WaitingPost& post) {
    const wire::Message& waits = post.posted.message;
    return waits.kind() == wire::Kind::Request && waits.id() == by.request_id() &&
           waits.method() != "initialize";  // initialize cannot be cancelled
  });
  if (named == posts_.end()) return std::nullopt;
  WaitingPost taken = std::move(*named);
  posts_.erase(named);
  bytes_ -= taken.posted.message.text().size();
  return taken;
}

void refuse_post(http::Exchange* exchange, int status, int code, std::string message, std::string_view id) {
  if (exchange == nullptr) return;
  HttpRefusal refusal;
  refusal.status = status;
  refusal.code = code;
  refusal.message = std::move(message);
  exchange->reply(refusal_response(refusal, id.empty() ? "null" : id));
}

void refuse_post_for_now(http::Exchange* exchange, int status, std::string message, std::string_view id) {
  refuse_post(exchange, status, wire::kTooManyCalls, std::move(message), id);
}

}  // namespace corral::transport
