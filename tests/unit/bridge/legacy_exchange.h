// A client and a server with a bridge between them, and what it said to either.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bridge/bridge.h"
#include "bridge/legacy_client.h"
#include "wire/json_text.h"
#include "wire/message.h"
#include "wire/rpc.h"

namespace corral::bridge {

class LegacyExchange : public Outlet {
 public:
  void to_client(const wire::Line& line, std::initializer_list<wire::Edit> edits) override {
    std::string text;
    std::size_t at = 0;
    for (const wire::Edit& edit : edits) {
      if (!edit.where.present()) continue;
      EXPECT_LE(at, edit.where.begin) << "edits overlap";
      text.append(line.text.substr(at, edit.where.begin - at)).append(edit.text);
      at = edit.where.end;
    }
    text.append(line.text.substr(at));
    as_it_came = edits.size() == 0 && line.text.data() == last_line;
    expect_message(text);
    client.push_back(std::move(text));
  }
  void to_server(const wire::Message& message) override {
    expect_message(std::string(message.text()));
    server.emplace_back(message.text());
  }
  QuestionId next_question() override { return QuestionId(++last_question); }

  void client_says(const std::string& text) {
    last_line = text.data();
    bridge->from_client(wire::Message(text), now);
  }
  void server_says(const std::string& text) {
    last_line = text.data();
    bridge->from_server(wire::Message(text), now);
  }

  /// What was said since the last time.
  std::vector<std::string> to_client() { return std::exchange(client, {}); }
  std::vector<std::string> to_server() { return std::exchange(server, {}); }
  /// The same if it must be one message; otherwise a list for the reader of the failure.
  std::string one_to_client() { return one(to_client()); }
  std::string one_to_server() { return one(to_server()); }

  std::unique_ptr<Bridge> bridge;
  Clock::time_point now{};
  std::vector<std::string> client;
  std::vector<std::string> server;
  std::uint64_t last_question = 900;
  bool as_it_came = false;  // the last message to the client was the very text that had come

 private:
  static void expect_message(const std::string& text) {
    const wire::Message message(text);
    EXPECT_LT(message.kind(), wire::Kind::Batch) << message.fault() << ": " << text;
  }
  static std::string one(const std::vector<std::string>& messages) {
    if (messages.size() == 1) return messages.front();
    std::string all = std::to_string(messages.size()) + " messages";
    for (const std::string& message : messages) all += "\n" + message;
    return all;
  }

  const char* last_line = nullptr;
};

/// A value inside JSON by the keys that lead to it; empty if it is not there.
inline std::string at(std::string_view json, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) json = wire::member(json, key).in(json);
  return std::string(json);
}

/// What a JSON string that is found so says.
inline std::string text_at(std::string_view json, std::initializer_list<std::string_view> keys) {
  return wire::string_value(at(json, keys)).value_or("no text");
}

inline const std::string kDiscovered =
    R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"logging":{},)"
    R"("resources":{"subscribe":true}},"ttlMs":0,"cacheScope":"public",)"
    R"("_meta":{"io.modelcontextprotocol/serverInfo":{"name":"m","version":"1"}}})";

/// A legacy client of any abilities before a modern server.
class LegacyClientTest : public testing::Test, public LegacyExchange {
 protected:
  LegacyClientTest() {
    begin("2025-11-25", R"({"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}})");
  }

  void begin(const std::string& version, const std::string& capabilities) {
    params = R"({"protocolVersion":")" + version + R"(","capabilities":)" + capabilities +
             R"(,"clientInfo":{"name":"c","version":"2"}})";
    bridge = legacy_client(*this, {"srv", params, kDiscovered});
  }

  /// Calls the tool "t" under the id `id`; returns the id that the server got.
  std::string call(const std::string& id = "1", const std::string& method = "tools/call") {
    client_says(tests::request(id, method, R"({"name":"t"})"));
    return at(one_to_server(), {"id"});
  }
  void server_answers(const std::string& id, const std::string& result) {
    server_says(tests::result(id, result));
  }
  void server_fails(const std::string& id, const std::string& error) {
    server_says(R"({"jsonrpc":"2.0","id":)" + id + R"(,"error":)" + error + "}");
  }

  std::string params;
};

}  // namespace corral::bridge
