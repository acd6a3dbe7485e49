#include "client/waiting_posts.h"

#include <utility>

#include "client/http_rules.h"
#include "wire/error_codes.h"

namespace corral::client {

void WaitingPosts::push(std::shared_ptr<http::Exchange> exchange, const Posted& posted) {
  bytes_ += posted.body->size();
  posts_.push_back({std::move(exchange), posted});
}

std::optional<WaitingPost> WaitingPosts::pop() {
  if (posts_.empty()) return std::nullopt;
  WaitingPost first = std::move(posts_.front());
  posts_.erase(posts_.begin());
  bytes_ -= first.posted.body->size();
  if (posts_.empty()) posts_.shrink_to_fit();
  return first;
}

void WaitingPosts::lose(const http::Exchange* exchange) {
  for (WaitingPost& post : posts_) {
    if (post.exchange.get() == exchange) post.exchange = nullptr;
  }
}

namespace {

http::Response post_refusal(int status, int code, std::string message, std::string_view id) {
  HttpRefusal refusal;
  refusal.status = status;
  refusal.code = code;
  refusal.message = std::move(message);
  return refusal_response(refusal, id.empty() ? "null" : id);
}

}  // namespace

void refuse_post(http::Exchange* exchange, int status, int code, std::string message, std::string_view id) {
  if (exchange != nullptr) exchange->reply(post_refusal(status, code, std::move(message), id));
}

void refuse_post_for_now(http::Exchange* exchange, int status, std::string message, std::string_view id) {
  if (exchange == nullptr) return;
  http::Response response = post_refusal(status, wire::kTooManyCalls, std::move(message), id);
  response.headers.push_back({"Retry-After", "1"});
  exchange->reply(std::move(response));
}

}  // namespace corral::client
