#include "bridge/legacy_client.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "bridge/legacy_calls.h"
#include "bridge/legacy_side.h"
#include "bridge/legacy_words.h"
#include "bridge/to_modern.h"
#include "bridge/uri_listens.h"
#include "wire/error_codes.h"
#include "wire/json_text.h"
#include "wire/log_level.h"
#include "wire/revisions.h"

namespace corral::bridge {

void LegacySide::answer(std::string_view id, std::string_view result) const {
  outlet.to_client({wire::result_message(id, result), nullptr});
}

void LegacySide::refuse(std::string_view id, int code, std::string_view sentence) const {
  outlet.to_client({wire::error_message(id, code, sentence), nullptr});
}

namespace {

/// Notifications that need no subscription made by the bridge; the caller's listen delivers the lists.
bool is_known_news(std::string_view method) {
  constexpr std::array<std::string_view, 4> kNews = {
      "notifications/tools/list_changed", "notifications/prompts/list_changed",
      "notifications/resources/list_changed", "notifications/resources/updated"};
  return std::find(kNews.begin(), kNews.end(), method) != kNews.end();
}

/// Methods that are not offered to a legacy client, or that only modern clients have.
bool is_not_offered(std::string_view method) {
  return method.starts_with("tasks/") || method == "subscriptions/listen" || method == "server/discover";
}

bool has_log(std::string_view discover_result) {
  const std::string_view capabilities = wire::member(discover_result, "capabilities").in(discover_result);
  return wire::is_object(wire::member(capabilities, "logging").in(capabilities));
}

/// A legacy client that never set a log level expects what servers send by default; a modern server sends
/// nothing unless a level is requested.
std::string_view usual_level(std::string_view discover_result) {
  return has_log(discover_result) ? "info" : "";
}

class LegacyClient final : public Bridge {
 public:
  LegacyClient(Outlet& outlet, LegacyClientOptions options)
      : initialize_params_(std::move(options.initialize_params)),
        discover_result_(std::move(options.discover_result)),
        side_{outlet,
              std::move(options.server),
              spoken_version(initialize_params_),
              modern_capabilities(initialize_params_),
              modern_meta(initialize_params_, usual_level(discover_result_)),
              options.shared ? UriListens::kMostOfOne : UriListens::kMost,
              options.account} {}

  void from_client(const wire::Message& message, Clock::time_point now) override;
  void from_server(const wire::Message& message, Clock::time_point now) override;
  void instance_changed(std::string_view handshake) override {
    discover_result_ = handshake;
    listens_.open_all();
  }
  void client_ended() override { calls_.client_ended(); }
  std::optional<Clock::time_point> next_deadline() const override;
  void expire(Clock::time_point now) override {
    calls_.expire(now);
    listens_.expire(now);
  }

 private:
  void request(const wire::Message& message, Clock::time_point now);
  void set_level(std::string_view id, std::string_view params);
  void cancelled(const wire::Message& message);
  void news(const wire::Message& message);
  void news_of_listen(const wire::Message& message, std::string_view method);
  bool below_level(std::string_view params) const;

  std::string initialize_params_;
  std::string discover_result_;
  std::string level_;  // log level; empty = the client never set it
  LegacySide side_;
  UriListens listens_{side_};
  LegacyCalls calls_{side_};
};

std::optional<Clock::time_point> LegacyClient::next_deadline() const {
  const std::optional<Clock::time_point> call = calls_.next_deadline();
  const std::optional<Clock::time_point> listen = listens_.next_deadline();
  return call && listen ? std::min(call, listen) : call ? call : listen;
}

void LegacyClient::from_client(const wire::Message& message, Clock::time_point now) {
  if (message.kind() == wire::Kind::Request) return request(message, now);
  if (message.kind() == wire::Kind::Response) return calls_.client_answered(message);
  if (message.kind() != wire::Kind::Notification) return;
  // A modern server accepts no other notification.
  if (message.method() == "notifications/cancelled") cancelled(message);
}

void LegacyClient::request(const wire::Message& message, Clock::time_point now) {
  const std::string_view id = message.id();
  const std::string_view method = message.method();
  const std::string_view params = message.params();
  if (calls_.open(id) || listens_.waits(id)) {
    return side_.refuse(id, wire::kInvalidRequest, "a request with this id is still open");
  }
  if (is_not_offered(method)) {
    return side_.refuse(id, wire::kMethodNotFound,
                        "server '" + side_.server + "' has no method " + std::string(method));
  }
  if (method == "logging/setLevel") return set_level(id, params);
  if (method != "resources/subscribe" && method != "resources/unsubscribe") return calls_.call(message);
  const std::optional<std::string> uri = wire::string_member(params, "uri");
  if (!uri) return side_.refuse(id, wire::kInvalidParams, std::string(method) + " needs a URI: params.uri");
  if (method == "resources/subscribe") return listens_.subscribe(id, *uri, now);
  listens_.unsubscribe(id, *uri);
}

void LegacyClient::set_level(std::string_view id, std::string_view params) {
  if (!has_log(discover_result_)) {
    return side_.refuse(id, wire::kMethodNotFound, "server '" + side_.server + "' does not support logging");
  }
  const std::optional<std::string> level = wire::string_member(params, "level");
  if (!level || !wire::parse_log_level(*level)) {
    return side_.refuse(
        id, wire::kInvalidParams,
        "params.level must be debug, info, notice, warning, error, critical, alert or emergency");
  }
  level_ = *level;
  side_.meta = modern_meta(initialize_params_, level_);
  side_.answer(id, "{}");
}

void LegacyClient::cancelled(const wire::Message& message) {
  const std::string_view id = message.request_id();
  const std::string_view params = message.params();
  const std::string_view reason = wire::member(params, "reason").in(params);
  listens_.give_up(id);
  calls_.cancel(id, wire::string_value(reason) ? reason : std::string_view());
}

void LegacyClient::from_server(const wire::Message& message, Clock::time_point now) {
  const std::string_view id = message.id();
  if (message.kind() == wire::Kind::Request) {
    side_.outlet.to_server(
        wire::Message(wire::error_message(id, wire::kMethodNotFound,
                                          "a server of protocol version " + std::string(wire::kModern) +
                                              " must not send requests; ask for input instead")));
  } else if (message.kind() == wire::Kind::Notification) {
    news(message);
  } else if (message.kind() == wire::Kind::Response) {
    const std::optional<UpId> own = wire::own_id<UpId>(id);
    if (own && listens_.answered(*own, message.error())) return;
    calls_.server_answered(message, now);
  }
}

void LegacyClient::news(const wire::Message& message) {
  const std::string_view method = message.method();
  if (method == "notifications/cancelled") {
    if (const auto listen = wire::own_id<UpId>(message.request_id())) listens_.cancelled(*listen);
  } else if (message.has_subscription_id()) {
    news_of_listen(message, method);
  } else if (method == "notifications/progress") {
    calls_.progress(message);
  } else if (method == "notifications/message") {
    if (!below_level(message.params())) side_.outlet.to_client(message.line());
  } else if (is_known_news(method)) {
    side_.outlet.to_client(message.line());
  }
}

void LegacyClient::news_of_listen(const wire::Message& message, std::string_view method) {
  const std::optional<UpId> listen = wire::own_id<UpId>(message.subscription_id());
  if (!listen || !listens_.knows(*listen)) return;
  const std::string_view params = message.params();
  if (method == "notifications/subscriptions/acknowledged") return listens_.acknowledged(*listen, params);
  if (method != "notifications/resources/updated") return;
  const std::string_view meta = message.meta();
  std::size_t members = 0;
  wire::each_member(meta, [&members](std::string_view, wire::Member) { ++members; });
  std::string_view object = members == 1 ? params : meta;
  wire::Span cut = wire::member_with_comma(object, members == 1 ? "_meta" : kSubscriptionId);
  const std::size_t offset = members == 1 ? message.where().params.begin : message.where().meta.begin;
  side_.outlet.to_client(message.line(), {{{cut.begin + offset, cut.end + offset}, {}}});
}

bool LegacyClient::below_level(std::string_view params) const {
  const std::optional<wire::LogLevel> lowest = wire::parse_log_level(level_);
  const std::optional<wire::LogLevel> level =
      wire::parse_log_level(wire::string_member(params, "level").value_or(""));
  return lowest && level && *level < *lowest;
}

}  // namespace

std::unique_ptr<Bridge> legacy_client(Outlet& outlet, LegacyClientOptions options) {
  return std::make_unique<LegacyClient>(outlet, std::move(options));
}

}  // namespace corral::bridge
