// Posts that arrived while the session could not accept messages, in order. Costs nothing while it is empty.
// Owned by one HTTP session.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "base/id.h"
#include "base/shares.h"
#include "http/exchange.h"
#include "transport/http_limits.h"
#include "transport/posted.h"

namespace corral::transport {

/// Identifies a request of a modern session; the session uses the same id.
using PostId = Id<struct PostTag>;

struct WaitingPost {
  PostId id{};                               // modern
  std::shared_ptr<http::Exchange> exchange;  // null: the client did not wait, but the message counts
  Posted posted;
  Account::Held bytes{};
};

class WaitingPosts {
 public:
  bool empty() const { return posts_.empty(); }
  std::size_t size() const { return posts_.size(); }
  std::size_t of_program(std::uint64_t program) const;

  /// For a session with one client: full at `most` posts or kMostBytes. The post that crosses the byte limit
  /// is still accepted.
  bool full(std::size_t most) const { return posts_.size() >= most || bytes_ >= kMostBytes; }
  /// For a session of several programs: whether one more would be too many for its program, which must leave
  /// room for the others, or for all of them.
  bool full_for(const Posted& posted, const HttpLimits& limits) const;

  /// False if its principal may not keep more; a null `account` is not charged.
  bool push(std::shared_ptr<http::Exchange> exchange, const Posted& posted, Account* account, PostId id = {});
  std::optional<WaitingPost> pop();

  /// The client of this exchange is gone; its post stays.
  void lose(const http::Exchange* exchange);
  /// Removes the post with this id. False if it does not wait here.
  bool remove(PostId id);
  /// Removes the waiting request that `posted` cancels, so that the server never sees it.
  std::optional<WaitingPost> take_cancelled(const Posted& posted);

 private:
  static constexpr std::size_t kMostBytes = std::size_t{4} << 20;

  WaitingPost take(std::vector<WaitingPost>::iterator place);

  std::size_t bytes_ = 0;
  std::vector<WaitingPost> posts_;
};

}  // namespace corral::transport
