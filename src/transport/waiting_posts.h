// What was posted while the session could take nothing. Costs nothing while it is empty. Shared by the legacy
// transports; belongs to one session.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "transport/http_session.h"

namespace corral::transport {

struct WaitingPost {
  std::shared_ptr<http::Exchange> exchange;  // null: the client did not wait, but it has said it
  Posted posted;
  Account::Held bytes{};
};

class WaitingPosts {
 public:
  bool empty() const { return posts_.empty(); }
  std::size_t size() const { return posts_.size(); }
  /// So many are enough; or so many bytes, whatever the one that crosses that line brings.
  bool full(std::size_t most) const { return posts_.size() >= most || bytes_ >= kMostBytes; }
  /// False if its principal may keep no more; null = nobody counts.
  bool push(std::shared_ptr<http::Exchange> exchange, const Posted& posted, Account* account);
  std::optional<WaitingPost> pop();
  void lose(const http::Exchange* exchange);
  /// What `posted` takes back, if that waits here: a request that its server need not see any more.
  std::optional<WaitingPost> take_cancelled(const Posted& posted);

 private:
  static constexpr std::size_t kMostBytes = std::size_t{4} << 20;

  std::size_t bytes_ = 0;
  std::vector<WaitingPost> posts_;
};

/// What a client is told whose message could not be taken.
void refuse_post(http::Exchange* exchange, int status, int code, std::string message,
                 std::string_view id = {});
/// The same, when it need only try again: with 429 or 503, which say when.
void refuse_post_for_now(http::Exchange* exchange, int status, std::string message, std::string_view id = {});

}  // namespace corral::transport
