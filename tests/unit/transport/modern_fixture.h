// A modern session with a real session behind it, and a server in the test's hand.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "session/exchange.h"
#include "transport/fake_exchange.h"
#include "transport/http_request.h"
#include "transport/http_rules.h"
#include "transport/modern_session.h"
#include "wire/json_text.h"

namespace corral::transport {

/// The messages in the events of a stream.
inline std::vector<std::string> events(const FakeExchange& exchange) {
  std::vector<std::string> found;
  constexpr std::string_view kBefore = "data: ";
  for (std::size_t at = 0; (at = exchange.body.find(kBefore, at)) != std::string::npos;) {
    at += kBefore.size();
    found.push_back(exchange.body.substr(at, exchange.body.find('\n', at) - at));
  }
  return found;
}

class ModernFixture {
 public:
  explicit ModernFixture(knowledge::Era era, const HttpLimits& limits = {},
                         config::Share share = config::Share::Auto,
                         ModernSession::Programs programs = ModernSession::Programs::Several)
      : daemon(share) {
    daemon.spec->entry.modern = era == knowledge::Era::Modern;
    daemon.spec->key = knowledge::launch_key(daemon.spec->launch);
    modern = std::make_unique<ModernSession>(
        daemon.loop, limits, [this](HttpSession& one) { gone += &one == modern.get() ? 1 : 100; }, programs);
    modern->begin(
        std::make_unique<session::Session>(daemon.loop, SessionId(1), *modern, daemon.pool, daemon.spec));
  }

  /// Posts without waiting for anything.
  FakeExchange& post(const std::string& body, std::uint64_t program = 0) {
    const auto exchange = std::make_shared<FakeExchange>();
    posted.push_back(exchange);
    const auto text = std::make_shared<const std::string>(body);
    modern->post(exchange, {wire::Message(wire::Line{*text, text}), program});
    return *exchange;
  }
  FakeExchange& ask(const std::string& id, const std::string& method, const std::string& params = "",
                    const std::string& meta = kModernMeta) {
    FakeExchange& exchange = post(modern_message(id, method, params, meta));
    daemon.settle();
    return exchange;
  }
  /// Discovers, so that the server is there and has answered.
  void open() {
    ask("0", "server/discover");
    if (daemon.spec->entry.modern == false) {
      daemon.answer_handshake(
          daemon.server(), R"({"tools":{"listChanged":true},"logging":{},"resources":{"subscribe":true}})");
    } else {
      answer(R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}})");
    }
    heard();
  }
  std::vector<std::string> heard() { return daemon.server().heard(); }
  void say(const std::string& line) {
    daemon.server().say(line);
    daemon.settle();
  }
  /// The server answers the one request that it has heard.
  void answer(const std::string& result) {
    const auto asked = heard();
    ASSERT_EQ(asked.size(), 1U);
    say(wire::result_message(id_of(asked[0]), result));
  }
  static std::string id_of(const std::string& line) { return std::string(wire::member_text(line, "id")); }

  tests::Exchange daemon;
  int gone = 0;
  std::vector<std::shared_ptr<FakeExchange>> posted;
  std::unique_ptr<ModernSession> modern;
};

inline std::string meta_with(const std::string& more) {
  return kModernMeta.substr(0, kModernMeta.size() - 1) + "," + more + "}";
}

}  // namespace corral::transport
