// Posts that arrived while the session could not accept messages. Costs nothing while it is empty. Used by
// the legacy transports; owned by one session.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "transport/http_session.h"

namespace corral::transport {

struct WaitingPost {
  std::shared_ptr<http::Exchange> exchange;  // null: the client did not wait, but the message counts
  Posted posted;
  Account::Held bytes{};
};

class WaitingPosts {
 public:
  bool empty() const { return posts_.empty(); }
  std::size_t size() const { return posts_.size(); }
  /// Full at `most` posts or kMostBytes. The post that crosses the byte limit is still accepted.
  bool full(std::size_t most) const { return posts_.size() >= most || bytes_ >= kMostBytes; }
  /// False if its principal may not keep more; a null `account` is not charged.
  bool push(std::shared_ptr<http::Exchange> exchange, const Posted& posted, Account* account);
  std::optional<WaitingPost> pop();
  /// The client of this exchange is gone; its post stays.
  void lose(const http::Exchange* exchange);
  /// Removes the waiting request that `posted` cancels, so that the server never sees it.
  std::optional<WaitingPost> take_cancelled(const Posted& posted);

 private:
  static constexpr std::size_t kMostBytes = std::size_t{4} << 20;

  std::size_t bytes_ = 0;
  std::vector<WaitingPost> posts_;
};

/// Sends an error response for a message that could not be accepted.
void refuse_post(http::Exchange* exchange, int status, int code, std::string message,
                 std::string_view id = {});
/// The same for a temporary condition: with 429 or 503 and Retry-After.
void refuse_post_for_now(http::Exchange* exchange, int status, std::string message, std::string_view id = {});

}  // namespace corral::transport
