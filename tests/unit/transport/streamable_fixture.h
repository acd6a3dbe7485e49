// A legacy session over Streamable HTTP: its client is a row of exchanges, its server two pipe ends, both in
// the test's hand; everything between them is real.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "session/exchange.h"
#include "transport/fake_exchange.h"
#include "transport/sse_session.h"
#include "transport/streamable_session.h"
#include "wire/rpc.h"

namespace corral::transport {

using tests::cancelled;
using tests::json;
using HttpReply = std::shared_ptr<FakeExchange>;

/// An event as a client reads it.
struct Seen {
  std::string id;
  std::string name;
  std::string data;
  std::string retry;
};

inline std::vector<Seen> events_of(const std::string& body) {
  std::vector<Seen> events;
  for (std::size_t at = 0, end = 0; (end = body.find("\n\n", at)) != std::string::npos; at = end + 2) {
    Seen event;
    bool any = false;
    std::istringstream block(body.substr(at, end - at));
    for (std::string line; std::getline(block, line);) {
      const std::size_t colon = line.find(':');
      const std::string value = line.size() > colon + 2 ? line.substr(colon + 2) : "";
      any = any || colon > 0;
      if (line.starts_with("id:")) event.id = value;
      if (line.starts_with("event:")) event.name = value;
      if (line.starts_with("data:")) event.data += value;
      if (line.starts_with("retry:")) event.retry = value;
    }
    if (any) events.push_back(event);
  }
  return events;
}

inline std::vector<std::string> data_of(const HttpReply& reply) {
  std::vector<std::string> data;
  for (const Seen& event : events_of(reply->body)) {
    if (!event.data.empty()) data.push_back(event.data);
  }
  return data;
}

inline Posted posted(const std::string& text) {
  Posted post{wire::Message(text).owned()};
  return post;
}

inline std::string call(const std::string& id, const std::string& token = "") {
  const std::string meta = token.empty() ? "" : R"(,"_meta":{"progressToken":)" + token + "}";
  return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"tools/call","params":{"name":"t")" + meta + "}}";
}
inline std::string log_message(const std::string& text) {
  return R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":")" + text +
         R"("}})";
}
inline std::string question(const std::string& id) {
  return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"roots/list"})";
}
inline const std::string kListChanged = R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})";

class StreamableTest : public testing::Test {
 protected:
  /// A session that has its handshake behind it.
  void start(const std::string& version = "2025-11-25") {
    open();
    const HttpReply reply = post(initialize(version));
    greet(version);
    ASSERT_EQ(reply->status, 200) << reply->body;
    ASSERT_EQ(reply->header("Mcp-Session-Id"), "the-session");
    post(tests::kInitialized);
    exchange.server().heard();
  }
  void open() {
    exchange.spec->key = knowledge::launch_key(exchange.spec->launch);
    transport = std::make_unique<StreamableSession>(exchange.loop, "the-session", limits,
                                                    [this](HttpSession&) { ++gone; });
    transport->begin(std::make_unique<session::Session>(exchange.loop, SessionId(1), *transport,
                                                        exchange.pool, exchange.spec));
  }
  static std::string initialize(const std::string& version) {
    return R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":")" + version +
           R"(","capabilities":{"roots":{}},"clientInfo":{"name":"tester","version":"1"}}})";
  }
  void greet(const std::string& version) {
    answer(R"({"protocolVersion":")" + version +
           R"(","capabilities":{"tools":{},"logging":{}},"serverInfo":{"name":"fake","version":"1"}})");
  }

  HttpReply post(const std::string& text) {
    auto reply = std::make_shared<FakeExchange>();
    transport->post(reply, posted(text));
    exchange.settle();
    return reply;
  }
  HttpReply listen(const std::string& last_event_id = "") {
    auto reply = std::make_shared<FakeExchange>();
    transport->listen(reply, last_event_id);
    exchange.settle();
    return reply;
  }
  void say(const std::string& line) {
    exchange.server().say(line);
    exchange.settle();
  }
  /// The messages that the server has heard and not answered yet.
  std::vector<boost::json::object>& calls() {
    for (const std::string& line : exchange.server().heard()) {
      const auto message = json(line).as_object();
      if (message.contains("id") && message.contains("method")) calls_.push_back(message);
    }
    return calls_;
  }
  /// The server answers its oldest call, or that one.
  void answer(const std::string& result = "{}", std::size_t which = 0) {
    ASSERT_LT(which, calls().size());
    const std::string id = boost::json::serialize(calls_[which].at("id"));
    calls_.erase(calls_.begin() + static_cast<std::ptrdiff_t>(which));
    say(tests::result(id, result));
  }
  /// Progress of a call that has not been answered.
  void progress(std::size_t which) {
    ASSERT_LT(which, calls().size());
    const auto token = calls_[which].at("params").at("_meta").at("progressToken");
    say(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" +
        boost::json::serialize(token) + R"(,"progress":1}})");
  }

  tests::Exchange exchange{config::Share::Session};
  HttpLimits limits;
  std::unique_ptr<StreamableSession> transport;
  int gone = 0;

 private:
  std::vector<boost::json::object> calls_;
};

}  // namespace corral::transport
