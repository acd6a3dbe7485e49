#include "transport/modern_posts.h"

#include <algorithm>
#include <array>
#include <utility>

#include "wire/attribution.h"
#include "wire/json_text.h"

namespace corral::transport {
namespace {

constexpr std::array<std::string_view, 3> kLists = {"tools", "prompts",
                                                    "resources"};  // in the order of the bits

/// The lists whose changes a listen requests.
std::uint8_t requested_lists(std::string_view params) {
  const std::string_view filter = wire::member_text(params, "notifications");
  std::uint8_t bits = 0;
  for (std::size_t i = 0; i < kLists.size(); ++i) {
    const bool wanted = wire::member_text(filter, std::string(kLists[i]) + "ListChanged") == "true";
    if (wanted) bits = static_cast<std::uint8_t>(bits | (1U << i));
  }
  return bits;
}

}  // namespace

PostId own_post_id(std::string_view json) { return wire::own_id<PostId>(json).value_or(PostId()); }

ModernPost::ModernPost(PostId given, std::shared_ptr<http::Exchange> way_back, const Posted& posted)
    : id(given),
      exchange(std::move(way_back)),
      program(posted.program),
      client_id(posted.message.id()),
      client_token(posted.message.progress_token()),
      level(wire::parse_log_level(wire::string_value(posted.message.log_level()).value_or(""))),
      last_written(Clock::now()) {
  const std::string_view method = posted.message.method();
  listens = method == "subscriptions/listen";
  asks_server = method != "server/discover";
  if (listens) lists = requested_lists(posted.message.params());
}

bool ModernPost::wants(std::string_view method) const {
  for (std::size_t i = 0; acknowledged && i < kLists.size(); ++i) {
    if (method == "notifications/" + std::string(kLists[i]) + "/list_changed")
      return (lists & (1U << i)) != 0;
  }
  return false;
}

ModernPost* ModernPosts::find(PostId id) {
  const auto found = std::lower_bound(posts_.begin(), posts_.end(), id,
                                      [](const ModernPost& post, PostId one) { return post.id < one; });
  return found != posts_.end() && found->id == id ? &*found : nullptr;
}

std::optional<ModernPost> ModernPosts::take(PostId id, Work work) {
  ModernPost* const found = find(id);
  if (found == nullptr) return std::nullopt;
  ModernPost post = std::move(*found);
  posts_.erase(posts_.begin() + (found - posts_.data()));
  if (posts_.empty()) posts_.shrink_to_fit();
  if (work == Work::Done) {
    remember_answered(post);
  } else {
    // The end of a listen is also work for a legacy server: it is asked to end a subscription.
    const bool wants_log = post.level.has_value() && !post.listens;
    lingering_.given_up(post.id, post.id, wants_log ? router::Logs::Wanted : router::Logs::Unwanted,
                        Clock::now());
  }
  return post;
}

std::size_t ModernPosts::of_program(std::uint64_t program) const {
  return static_cast<std::size_t>(std::count_if(
      posts_.begin(), posts_.end(), [program](const ModernPost& post) { return post.program == program; }));
}

std::size_t ModernPosts::queued() const {
  std::size_t bytes = 0;
  for (const ModernPost& post : posts_) bytes += post.queued();
  return bytes;
}

std::optional<PostId> ModernPosts::slowest() const {
  const auto worst =
      std::max_element(posts_.begin(), posts_.end(),
                       [](const ModernPost& a, const ModernPost& b) { return a.queued() < b.queued(); });
  return worst == posts_.end() || !worst->streaming ? std::nullopt : std::optional(worst->id);
}

// ---- which request a notification belongs to

ModernPosts::Recipient ModernPosts::recipient_of(const wire::Message& message, wire::Era era) {
  const std::string_view method = message.method();
  if (method == "notifications/progress") return of_progress(message);
  if (message.has_subscription_id()) return of_listen(message);
  if (method == "notifications/message") return of_log_message(message, era);
  return {};  // it names no request, and a modern client receives only what it asked for
}

ModernPosts::Recipient ModernPosts::of_progress(const wire::Message& message) {
  ModernPost* const post = find(own_post_id(message.direct_token()));
  if (post == nullptr || post->client_token.empty()) return {};
  return {post, message.where().direct_token, post->client_token};
}

/// A client that reads a list after the acknowledgement gets the current one, so nothing is lost before it.
ModernPosts::Recipient ModernPosts::of_listen(const wire::Message& message) {
  ModernPost* const post = find(own_post_id(message.subscription_id()));
  if (post == nullptr || !post->listens) return {};
  if (message.method() == "notifications/subscriptions/acknowledged") {
    post->acknowledged = true;
    remember_answered(*post);  // a legacy server has just answered its subscriptions
  }
  if (!post->acknowledged) return {};
  return {post, message.where().subscription_id, post->client_id};
}

/// wire/attribution.h decides: the only request that can have caused it, or none.
ModernPosts::Recipient ModernPosts::of_log_message(const wire::Message& message, wire::Era era) {
  const auto level = wire::parse_log_level(wire::string_member(message.params(), "level").value_or(""));
  const std::optional<PostId> cause = cause_of_log(era);
  ModernPost* const post = cause ? find(*cause) : nullptr;  // a request that was abandoned is not there
  if (post == nullptr || !post->level || (level && *level < *post->level)) return {};
  return {post};
}

/// A server on a pipe has one stream for all requests, which may be from several programs. A legacy server
/// logs for any of them, a modern one only for those that requested it.
std::optional<PostId> ModernPosts::cause_of_log(wire::Era era) const {
  const bool all = era != wire::Era::Modern;
  wire::PossibleCauses<PostId> causes;
  for (const ModernPost& post : posts_) {
    // With a legacy server, a listen is a subscription that the server works on.
    const bool works = !post.listens || !post.acknowledged;
    if (works && (all || post.level)) causes.add(post.id);
  }
  using router::Causes;
  lingering_.add_to(causes, all ? Causes::AnyCall : Causes::CallsThatWantLogs, Clock::now());
  return causes.only();
}

/// A late log line about one program's request must not be attributed to the next request, which may be
/// another program's. With a single program this would only lose lines, because its requests often follow
/// each other closely.
void ModernPosts::remember_answered(const ModernPost& post) {
  if (programs_ == Programs::Several && post.asks_server) lingering_.call_answered(post.id, Clock::now());
}

}  // namespace corral::transport
