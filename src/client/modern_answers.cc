// From the session to the clients: which request a message belongs to, and in whose words.
#include <algorithm>

#include "client/http_rules.h"
#include "client/modern_session_impl.h"
#include "http/sse.h"
#include "wire/error_codes.h"
#include "wire/json_text.h"
#include "wire/line_pipe.h"

namespace corral::client {
namespace {

constexpr std::string_view kSubscriptionKey = "io.modelcontextprotocol/subscriptionId";
constexpr std::size_t kOwnedAnswer = std::size_t{16} << 10;

bool same_place(const wire::Span& one, const wire::Span& other) {
  return one.begin == other.begin && one.end == other.end;
}

/// An id or token of ours; some servers give a number back as a string.
std::uint64_t own_post_id(std::string_view json) {
  const auto number = wire::own_number(json);
  if (number) return *number;
  return wire::own_number(wire::string_value(json).value_or("")).value_or(0);
}

std::string with_replaced(std::string text, wire::Span where, std::string_view by) {
  if (where.present()) text.replace(where.begin, where.end - where.begin, by);
  return text;
}

/// The answer to a listen names the listen a second time, inside.
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
  const bool owned = text->size() >= kOwnedAnswer;
  http::write_event(exchange, {{}, {}, {*text, owned ? text : nullptr}, std::nullopt});
}

}  // namespace

void ModernSession::Impl::route(const wire::Line& line, std::span<const wire::Edit> edits) {
  const wire::Envelope envelope = wire::scan(line.text);
  switch (envelope.kind) {
    case wire::Kind::Response: return answer(line, envelope, edits);
    case wire::Kind::Notification: return news(wire::edited(line.text, edits));
    case wire::Kind::Request: {
      // A client of this revision is asked nothing; a server that does so all the same must not wait for it.
      ++dropped;
      const std::string text = wire::edited(line.text, edits);
      const std::string_view id = wire::member_text(text, "id");
      return tell(
          wire::error_message(id, wire::kMethodNotFound, "Method not found: no client can answer this"));
    }
    default: ++dropped;
  }
}

/// Answers can be large: one pass finds the id, one copy puts the client's own in its place.
void ModernSession::Impl::answer(const wire::Line& line, const wire::Envelope& envelope,
                                 std::span<const wire::Edit> edits) {
  std::vector<wire::Edit> all(edits.begin(), edits.end());
  std::erase_if(all, [](const wire::Edit& edit) { return !edit.where.present(); });
  auto place = std::find_if(all.begin(), all.end(),
                            [&](const wire::Edit& edit) { return same_place(edit.where, envelope.id); });
  if (place == all.end()) {
    place = std::find_if(all.begin(), all.end(),
                         [&](const wire::Edit& edit) { return edit.where.begin > envelope.id.begin; });
    place = all.insert(place, {envelope.id, envelope.id.in(line.text)});
  }
  const std::optional<ModernPost> post = take(own_post_id(place->text));
  if (!post) {
    ++dropped;  // most likely its client has hung up
    return;
  }
  place->text = post->client_id;
  std::string text = wire::edited(line.text, all);
  if (post->listens) text = with_listen_id(std::move(text), *post);
  give_answer(*post, std::move(text), envelope.error.present());
}

void ModernSession::Impl::give_answer(const ModernPost& post, std::string text, bool error) {
  http::Exchange& exchange = *post.exchange;
  if (post.streaming) {
    write_message(exchange, std::move(text));
    exchange.finish();
  } else {
    http::Response response;
    response.status = error ? modern_status(text, wire::scan(text)) : 200;
    response.headers.push_back({"Content-Type", "application/json"});
    if (text.size() < kOwnedAnswer) {
      response.body = std::move(text);
    } else {
      response.large_body = std::make_shared<const std::string>(std::move(text));
    }
    exchange.reply(std::move(response));
  }
  relieve();
}

// ---- news

void ModernSession::Impl::news(std::string text) {
  const wire::Envelope envelope = wire::scan(text);
  const std::string_view method = wire::method_name(envelope, text);
  if (method == "notifications/progress") return progress(std::move(text), envelope);
  if (method == "notifications/cancelled") return listen_cancelled(text, envelope);
  if (envelope.subscription_id.present()) return listened(std::move(text), envelope);
  if (method == "notifications/message") return log_message(std::move(text), envelope);
  if (method.ends_with("/list_changed")) return list_changed(method);
  ++dropped;  // it names nobody, and a modern client hears only what it has asked for
}

/// Without the name of a listen: what a client was owed that did not read. It is for all that want to hear
/// it.
void ModernSession::Impl::list_changed(std::string_view method) {
  for (std::size_t i = 0; i < kListsToHear.size(); ++i) {
    if (method != "notifications/" + std::string(kListsToHear[i]) + "/list_changed") continue;
    for (ModernPost& post : open) {
      if (!post.acknowledged || (post.hears & (1U << i)) == 0) continue;
      write(post, R"({"jsonrpc":"2.0","method":")" + std::string(method) + R"(","params":{"_meta":{)" +
                      wire::quoted(kSubscriptionKey) + ":" + post.client_id + "}}}");
    }
  }
}

void ModernSession::Impl::progress(std::string text, const wire::Envelope& envelope) {
  ModernPost* const post = find(own_post_id(envelope.direct_token.in(text)));
  if (post == nullptr || post->client_token.empty()) {
    ++dropped;
    return;
  }
  write(*post, with_replaced(std::move(text), envelope.direct_token, post->client_token));
}

/// Who reads a list after the acknowledgement sees it as it is, so nothing is lost by what comes before.
void ModernSession::Impl::listened(std::string text, const wire::Envelope& envelope) {
  ModernPost* const post = find(own_post_id(envelope.subscription_id.in(text)));
  if (post == nullptr || !post->listens) {
    ++dropped;
    return;
  }
  if (wire::method_name(envelope, text) == "notifications/subscriptions/acknowledged")
    post->acknowledged = true;
  if (!post->acknowledged) {
    ++dropped;
    return;
  }
  write(*post, with_replaced(std::move(text), envelope.subscription_id, post->client_id));
}

/// A log line names no request: a server on a pipe has one stream for all of them. Of those that asked for
/// lines like it the newest is the most likely to be meant, and all of them are one user's.
void ModernSession::Impl::log_message(std::string text, const wire::Envelope& envelope) {
  const std::string_view params = envelope.params.in(text);
  const auto level = wire::parse_log_level(wire::string_member(params, "level").value_or(""));
  const auto newest = std::find_if(open.rbegin(), open.rend(), [&](const ModernPost& post) {
    return !post.listens && post.level && (!level || *level >= *post.level);
  });
  if (newest == open.rend()) {
    ++dropped;
    return;
  }
  write(*newest, std::move(text));
}

/// On a pipe a server takes back a listen by this; over HTTP the client hears an answer, and the end.
void ModernSession::Impl::listen_cancelled(std::string_view text, const wire::Envelope& envelope) {
  const ModernPost* const named = find(own_post_id(envelope.request_id.in(text)));
  if (named == nullptr || !named->listens) {
    ++dropped;
    return;
  }
  const ModernPost post = *take(named->id);
  const std::string result =
      R"({"resultType":"complete","_meta":{)" + wire::quoted(kSubscriptionKey) + ":" + post.client_id + "}}";
  std::string answer = wire::result_message(post.client_id, result);
  give_answer(post, std::move(answer), false);
}

void ModernSession::Impl::begin_stream(ModernPost& post) {
  post.streaming = true;
  post.exchange->when_drained([weak = weak_from_this()] {
    if (const auto impl = weak.lock()) impl->relieve();
  });
  post.exchange->begin(200, http::event_stream_headers());
}

void ModernSession::Impl::write(ModernPost& post, std::string text) {
  if (!post.streaming) begin_stream(post);
  write_message(*post.exchange, std::move(text));
  post.heard = Clock::now();
}

// ---- how much they take

std::size_t ModernSession::Impl::queued() const {
  std::size_t bytes = 0;
  for (const ModernPost& post : open) bytes += post.streaming ? post.exchange->queued() : 0;
  return bytes;
}

void ModernSession::Impl::weigh() {
  const std::size_t bytes = queued();
  if (bytes > wire::LinePipe::kHighWater) congested = true;
  if (bytes > limits.queued) shed();
}

/// The stream that takes least is given up, before the session of all of them has to be.
void ModernSession::Impl::shed() {
  while (queued() > limits.queued) {
    const auto worst =
        std::max_element(open.begin(), open.end(), [](const ModernPost& a, const ModernPost& b) {
          return (a.streaming ? a.exchange->queued() : 0) < (b.streaming ? b.exchange->queued() : 0);
        });
    if (worst == open.end() || !worst->streaming) break;
    const std::uint64_t id = worst->id;
    take(id);
    tell(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" +
         std::to_string(id) + R"(,"reason":"the client does not read"}})");
  }
  relieve();  // perhaps nobody is left who could be waited for
}

void ModernSession::Impl::relieve() {
  if (!congested || queued() > wire::LinePipe::kLowWater) return;
  congested = false;
  loop.post([weak = weak_from_this()] {
    const auto impl = weak.lock();
    if (impl && !impl->closed && !impl->congested) impl->session->output_drained();
  });
}

}  // namespace corral::client
