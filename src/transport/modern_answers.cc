// From the session to the clients: which request a message belongs to, with the ids of its client.
#include <algorithm>
#include <utility>

#include "http/sse.h"
#include "transport/http_rules.h"
#include "transport/modern_session_impl.h"
#include "wire/attribution.h"
#include "wire/error_codes.h"
#include "wire/json_text.h"
#include "wire/line_pipe.h"

namespace corral::transport {
namespace {

constexpr std::string_view kSubscriptionKey = "io.modelcontextprotocol/subscriptionId";
// What the bridge answers while a legacy server waits for input: it is still working on the call.
constexpr std::string_view kInputRequired = R"({"resultType":"input_required")";

bool same_place(const wire::Span& one, const wire::Span& other) {
  return one.begin == other.begin && one.end == other.end;
}

/// An id or token that corral issued; some servers return a number as a string.
PostId own_post_id(std::string_view json) { return wire::own_id<PostId>(json).value_or(PostId()); }

std::string with_replaced(std::string text, wire::Span where, std::string_view by) {
  if (where.present()) text.replace(where.begin, where.end - where.begin, by);
  return text;
}

/// The answer to a listen repeats the id of the listen inside its result.
std::string with_listen_id(std::string text, const ModernPost& post) {
  const wire::Span result = wire::member(text, "result");
  const std::string_view inside = result.in(text);
  const wire::Span meta = wire::member(inside, "_meta");
  const wire::Span named = wire::member(meta.in(inside), kSubscriptionKey);
  if (!named.present() || own_post_id(named.in(meta.in(inside))) != post.id) return text;
  const std::size_t base = result.begin + meta.begin;
  return with_replaced(std::move(text), {base + named.begin, base + named.end}, post.client_id);
}

void write_message(http::Exchange& exchange, std::string message) {
  const auto text = std::make_shared<const std::string>(std::move(message));
  const bool owned = text->size() >= wire::kWorthAnOwner;
  http::write_event(exchange, {{}, {}, {*text, owned ? text : nullptr}, std::nullopt});
}

}  // namespace

void ModernSession::Impl::route(const wire::Line& line, std::span<const wire::Edit> edits) {
  const wire::Message message(line);
  switch (message.kind()) {
    case wire::Kind::Response: return answer(message, edits);
    case wire::Kind::Notification: return news(wire::edited(line.text, edits));
    case wire::Kind::Request: {
      // A client of this revision cannot be asked; a server that asks anyway must not wait.
      ++dropped;
      const std::string text = wire::edited(line.text, edits);
      const std::string_view id = wire::member_text(text, "id");
      return tell(wire::Message(
          wire::error_message(id, wire::kMethodNotFound, "Method not found: no client can answer this")));
    }
    default: ++dropped;
  }
}

/// Answers can be large: one pass finds the id, and one copy replaces it with the client's own.
void ModernSession::Impl::answer(const wire::Message& message, std::span<const wire::Edit> edits) {
  std::vector<wire::Edit> all(edits.begin(), edits.end());
  std::erase_if(all, [](const wire::Edit& edit) { return !edit.where.present(); });
  auto place = std::find_if(all.begin(), all.end(), [&](const wire::Edit& edit) {
    return same_place(edit.where, message.where().id);
  });
  if (place == all.end()) {
    place = std::find_if(all.begin(), all.end(),
                         [&](const wire::Edit& edit) { return edit.where.begin > message.where().id.begin; });
    place = all.insert(place, {message.where().id, message.id()});
  }
  const std::optional<ModernPost> post = take(own_post_id(place->text));
  if (!post) {
    ++dropped;  // most likely its client has hung up
    return;
  }
  const bool still_works = programs == Programs::Several && message.result().starts_with(kInputRequired);
  still_works ? remember_given_up(*post) : remember_answered(*post);
  place->text = post->client_id;
  std::string text = wire::edited(message.text(), all);
  if (post->listens) text = with_listen_id(std::move(text), *post);
  give_answer(*post, std::move(text), modern_status(message));
}

void ModernSession::Impl::give_answer(const ModernPost& post, std::string text, int status) {
  http::Exchange& exchange = *post.exchange;
  if (post.streaming) {
    write_message(exchange, std::move(text));
    exchange.finish();
  } else {
    http::Response response;
    response.status = status;
    response.headers.push_back({"Content-Type", "application/json"});
    if (text.size() < wire::kWorthAnOwner) {
      response.body = std::move(text);
    } else {
      response.large_body = std::make_shared<const std::string>(std::move(text));
    }
    exchange.reply(std::move(response));
  }
  report_drained();
}

// ---- notifications

void ModernSession::Impl::news(std::string text) {
  const wire::Message message(text);
  const std::string_view method = message.method();
  if (method == "notifications/cancelled") return listen_cancelled(message);
  if (!message.has_subscription_id() && method.ends_with("/list_changed")) return list_changed(method);
  const Recipient to = recipient_of(message);
  if (to.post == nullptr) {
    ++dropped;
    return;
  }
  write(*to.post, with_replaced(std::move(text), to.where, to.client_word));
}

ModernSession::Impl::Recipient ModernSession::Impl::recipient_of(const wire::Message& message) {
  const std::string_view method = message.method();
  if (method == "notifications/progress") return of_progress(message);
  if (message.has_subscription_id()) return of_listen(message);
  if (method == "notifications/message") return of_log_message(message);
  return {};  // it names no request, and a modern client receives only what it asked for
}

/// Without the id of a listen: a change that a client did not read in time. It goes to all listens that want
/// it.
void ModernSession::Impl::list_changed(std::string_view method) {
  for (std::size_t i = 0; i < kListsToHear.size(); ++i) {
    if (method != "notifications/" + std::string(kListsToHear[i]) + "/list_changed") continue;
    for (ModernPost& post : open) {
      if (!post.acknowledged || (post.hears & (1U << i)) == 0) continue;
      const std::string params =
          R"({"_meta":{)" + wire::quoted(kSubscriptionKey) + ":" + post.client_id + "}}";
      write(post, wire::notification_message(method, params));
    }
  }
}

ModernSession::Impl::Recipient ModernSession::Impl::of_progress(const wire::Message& message) {
  ModernPost* const post = find(own_post_id(message.direct_token()));
  if (post == nullptr || post->client_token.empty()) return {};
  return {post, message.where().direct_token, post->client_token};
}

/// A client that reads a list after the acknowledgement gets the current one, so nothing is lost before it.
ModernSession::Impl::Recipient ModernSession::Impl::of_listen(const wire::Message& message) {
  ModernPost* const post = find(own_post_id(message.subscription_id()));
  if (post == nullptr || !post->listens) return {};
  if (message.method() == "notifications/subscriptions/acknowledged") {
    post->acknowledged = true;
    remember_answered(*post);  // a legacy server has just answered its subscriptions
  }
  if (!post->acknowledged) return {};
  return {post, message.where().subscription_id, post->client_id};
}

bool ModernSession::Impl::server_is_modern() const {
  const router::Router* const router = session->attachment().router();
  return router != nullptr && router->instance()->handshake().era() == knowledge::Era::Modern;
}

/// A server on a pipe has one stream for all requests, which may be from several programs. A legacy server
/// logs for any of them, a modern one only for those that requested it.
std::optional<PostId> ModernSession::Impl::cause_of_log() const {
  const bool all = !server_is_modern();
  wire::PossibleCauses<PostId> causes;
  for (const ModernPost& post : open) {
    // With a legacy server, a listen is a subscription that the server works on.
    const bool works = !post.listens || !post.acknowledged;
    if (works && (all || post.level)) causes.add(post.id);
  }
  using router::Causes;
  lingering.add_to(causes, all ? Causes::AnyCall : Causes::CallsThatWantLogs, Clock::now());
  return causes.only();
}

void ModernSession::Impl::remember_given_up(const ModernPost& post) {
  // The end of a listen is also work for a legacy server: it is asked to end a subscription.
  const bool wants_log = post.level.has_value() && !post.listens;
  lingering.given_up(post.id, post.id, wants_log ? router::Logs::Wanted : router::Logs::Unwanted,
                     Clock::now());
}

/// A late log line about one program's request must not be attributed to the next request, which may be
/// another program's. With a single program this would only lose lines, because its requests often follow
/// each other closely.
void ModernSession::Impl::remember_answered(const ModernPost& post) {
  if (programs == Programs::Several && post.asks_server) lingering.call_answered(post.id, Clock::now());
}

/// wire/attribution.h decides: the only request that can have caused it, or none.
ModernSession::Impl::Recipient ModernSession::Impl::of_log_message(const wire::Message& message) {
  const auto level = wire::parse_log_level(wire::string_member(message.params(), "level").value_or(""));
  const std::optional<PostId> cause = cause_of_log();
  ModernPost* const post = cause ? find(*cause) : nullptr;  // a request that was abandoned is not there
  if (post == nullptr || !post->level || (level && *level < *post->level)) return {};
  return {post};
}

/// On a pipe a server ends a listen this way; over HTTP the client gets an answer and the end of the stream.
void ModernSession::Impl::listen_cancelled(const wire::Message& message) {
  const ModernPost* const named = find(own_post_id(message.request_id()));
  if (named == nullptr || !named->listens) {
    ++dropped;
    return;
  }
  const ModernPost post = *take(named->id);
  remember_answered(post);
  const std::string result =
      R"({"resultType":"complete","_meta":{)" + wire::quoted(kSubscriptionKey) + ":" + post.client_id + "}}";
  std::string answer = wire::result_message(post.client_id, result);
  give_answer(post, std::move(answer), 200);
}

void ModernSession::Impl::begin_stream(ModernPost& post) {
  post.streaming = true;
  post.exchange->when_drained([weak = weak_from_this()] {
    if (const auto impl = weak.lock()) impl->report_drained();
  });
  post.exchange->begin(200, http::event_stream_headers());
}

/// For notifications. A client that does not read may miss them, so that no other client waits for it. A
/// listen that missed one would show an old state forever, so it ends, and its client asks again.
void ModernSession::Impl::write(ModernPost& post, std::string text) {
  const bool full = post.streaming && post.exchange->queued() > wire::LinePipe::kHighWater;
  if (full && programs == Programs::Several) {
    ++dropped;
    post.behind = post.listens;
    some_behind = some_behind || post.behind;
    return;
  }
  if (!post.streaming) begin_stream(post);
  write_message(*post.exchange, std::move(text));
  post.heard = Clock::now();
}

// ---- flow control

std::size_t ModernSession::Impl::queued() const {
  std::size_t bytes = 0;
  for (const ModernPost& post : open) bytes += post.streaming ? post.exchange->queued() : 0;
  return bytes;
}

void ModernSession::Impl::check_pressure() {
  if (std::exchange(some_behind, false)) drop_those_behind();
  const std::size_t bytes = queued();
  if (bytes > wire::LinePipe::kHighWater && programs == Programs::One) congested = true;
  if (bytes > limits.queued) drop_slowest();
}

void ModernSession::Impl::drop_those_behind() {
  std::vector<PostId> behind;
  for (const ModernPost& post : open) {
    if (post.behind) behind.push_back(post.id);
  }
  for (const PostId id : behind) give_up(id);
}

/// Closes its connection, and tells the server that the request is cancelled.
void ModernSession::Impl::give_up(PostId id) {
  if (const std::optional<ModernPost> post = take(id)) remember_given_up(*post);
  tell(wire::Message(wire::cancelled_message(to_string(id), "the client does not read")));
}

/// Drops the stream with the largest backlog, before the whole session has to end.
void ModernSession::Impl::drop_slowest() {
  while (queued() > limits.queued) {
    const auto worst =
        std::max_element(open.begin(), open.end(), [](const ModernPost& a, const ModernPost& b) {
          return (a.streaming ? a.exchange->queued() : 0) < (b.streaming ? b.exchange->queued() : 0);
        });
    if (worst == open.end() || !worst->streaming) break;
    give_up(worst->id);
  }
  report_drained();  // maybe no slow client is left
}

void ModernSession::Impl::report_drained() {
  if (!congested || queued() > wire::LinePipe::kLowWater) return;
  congested = false;
  loop.post([weak = weak_from_this()] {
    const auto impl = weak.lock();
    if (impl && !impl->closed && !impl->congested) impl->session->output_drained();
  });
}

}  // namespace corral::transport
