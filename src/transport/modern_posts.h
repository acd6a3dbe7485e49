// The open requests of a modern HTTP session, and which of them a notification of the server belongs to. A
// server has one stream for all of them, and they may be from several programs, which must not receive each
// other's messages. Passive: the session writes to the clients.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http/exchange.h"
#include "router/lingering_work.h"
#include "transport/waiting_posts.h"
#include "wire/log_level.h"
#include "wire/message.h"
#include "wire/revisions.h"

namespace corral::transport {

/// The key of a listen's id in the `_meta` of what is sent for it.
constexpr std::string_view kSubscriptionKey = "io.modelcontextprotocol/subscriptionId";

/// An id or token that corral issued; some servers return a number as a string.
PostId own_post_id(std::string_view json);

/// A request that waits for its answer. Requests of different programs may have the same ids and tokens, so
/// the server sees `id` in place of both.
struct ModernPost {
  /// The message is a checked request.
  ModernPost(PostId given, std::shared_ptr<http::Exchange> way_back, const Posted& posted);

  PostId id;
  std::shared_ptr<http::Exchange> exchange;
  std::uint64_t program;                // the sending program, if it is known
  std::string client_id;                // JSON, as the client wrote it
  std::string client_token;             // JSON, as the client wrote it; empty = no progress wanted
  std::optional<wire::LogLevel> level;  // of the log lines that it wants
  bool listens = false;
  bool asks_server = true;    // false: a legacy server is not asked
  std::uint8_t lists = 0;     // whose changes a listen wants, as bits
  bool acknowledged = false;  // a listen receives nothing before that
  bool streaming = false;     // its status line was sent
  bool behind = false;        // a listen that has lost something: it ends, so that its client asks again
  Clock::time_point last_written{};  // since when nothing was sent to it

  /// Whether it is a listen for this `list_changed` notification.
  bool wants(std::string_view method) const;
  /// What its client has not read.
  std::size_t queued() const { return streaming ? exchange->queued() : 0; }
};

class ModernPosts {
 public:
  /// Whose requests these are. With one program, the server waits for a slow reader and nothing is lost. With
  /// several, none waits for another: a slow reader loses notifications, but not answers.
  enum class Programs : std::uint8_t { One, Several };
  explicit ModernPosts(Programs programs) : programs_(programs) {}

  /// Ids must grow.
  void add(ModernPost post) { posts_.push_back(std::move(post)); }
  /// Null if it is not open. Valid until the next `add`, `take` or `take_all`.
  ModernPost* find(PostId id);

  /// Whether the server may still work on a request that is not open any more, and write about it.
  enum class Work : std::uint8_t { Done, Continues };
  /// Removes a request; empty if it is not open.
  std::optional<ModernPost> take(PostId id, Work work);
  std::vector<ModernPost> take_all() { return std::exchange(posts_, {}); }

  std::span<ModernPost> all() { return posts_; }
  std::size_t size() const { return posts_.size(); }
  std::size_t of_program(std::uint64_t program) const;
  /// The bytes that clients have not read.
  std::size_t queued() const;
  /// The request whose client has left most unread.
  std::optional<PostId> slowest() const;

  /// The request that a notification belongs to, and the part of it that must be replaced with the client's
  /// own value. `post` is null if it belongs to none, or if its client does not want it.
  struct Recipient {
    ModernPost* post = nullptr;
    wire::Span where{};
    std::string_view client_value{};  // in `post`
  };
  /// For any notification except a cancellation, or a list change that names no listen. `era` is the
  /// server's.
  Recipient recipient_of(const wire::Message& message, wire::Era era);

 private:
  Recipient of_progress(const wire::Message& message);
  Recipient of_listen(const wire::Message& message);
  Recipient of_log_message(const wire::Message& message, wire::Era era);
  std::optional<PostId> cause_of_log(wire::Era era) const;
  void remember_answered(const ModernPost& post);

  const Programs programs_;
  std::vector<ModernPost> posts_;  // by id
  router::LingeringWork<PostId, PostId> lingering_;
};

}  // namespace corral::transport
