#include "transport/waiting_posts.h"

#include <algorithm>
#include <utility>

namespace corral::transport {

std::size_t WaitingPosts::of_program(std::uint64_t program) const {
  return static_cast<std::size_t>(std::count_if(
      posts_.begin(), posts_.end(), [&](const WaitingPost& one) { return one.posted.program == program; }));
}

bool WaitingPosts::full_for(const Posted& posted, const HttpLimits& limits) const {
  const std::size_t size = posted.message.text().size();
  std::size_t count = 0;
  std::size_t bytes = size;
  for (const WaitingPost& one : posts_) {
    if (one.posted.program != posted.program) continue;
    ++count;
    bytes += one.posted.message.text().size();
  }
  if (count >= limits.waiting || posts_.size() >= limits.waiting * 4) return true;
  if (count > 0 && bytes > limits.queued / 4) return true;
  return !posts_.empty() && bytes_ + size > limits.queued;
}

bool WaitingPosts::push(std::shared_ptr<http::Exchange> exchange, const Posted& posted, Account* account,
                        PostId id) {
  Account::Held held;
  if (account != nullptr) {
    auto taken = account->take(Good::Bytes, posted.message.text().size());
    if (!taken) return false;
    held = std::move(*taken);
  }
  bytes_ += posted.message.text().size();
  posts_.push_back({id, std::move(exchange), posted, std::move(held)});
  return true;
}

WaitingPost WaitingPosts::take(std::vector<WaitingPost>::iterator place) {
  WaitingPost taken = std::move(*place);
  posts_.erase(place);
  bytes_ -= taken.posted.message.text().size();
  if (posts_.empty()) posts_.shrink_to_fit();
  return taken;
}

std::optional<WaitingPost> WaitingPosts::pop() {
  if (posts_.empty()) return std::nullopt;
  return take(posts_.begin());
}

void WaitingPosts::lose(const http::Exchange* exchange) {
  for (WaitingPost& post : posts_) {
    if (post.exchange.get() == exchange) post.exchange = nullptr;
  }
}

bool WaitingPosts::remove(PostId id) {
  const auto found =
      std::find_if(posts_.begin(), posts_.end(), [id](const WaitingPost& post) { return post.id == id; });
  if (found == posts_.end()) return false;
  take(found);
  return true;
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
  return take(named);
}

}  // namespace corral::transport
