// One modern client, one bridge, one legacy server, all in the test's hand.
#pragma once

#include <boost/json.hpp>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bridge/modern_client.h"
#include "wire/rpc.h"

namespace corral::bridge::tests {

inline boost::json::value json(const std::string& text) { return boost::json::parse(text); }

inline const std::string kInitialized =
    R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{},"resources":{"subscribe":true},)"
    R"("logging":{}},"serverInfo":{"name":"s","version":"1"}})";
inline const std::string kInfo =
    R"("_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}})";

/// The `_meta` of a request whose client has these capabilities; `more` are further members of it.
inline std::string meta(const std::string& capabilities = "{}", const std::string& more = "") {
  return R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
         R"("io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},)"
         R"("io.modelcontextprotocol/clientCapabilities":)" +
         capabilities + (more.empty() ? "" : ",") + more + "}";
}
inline std::string request(const std::string& id, const std::string& method, const std::string& params) {
  return corral::tests::request(id, method, "{" + params + "}");
}
inline std::string call(const std::string& id, const std::string& capabilities = "{}",
                        const std::string& more = "") {
  return request(id, "tools/call", R"("name":"t","arguments":{"a":1},)" + meta(capabilities) + more);
}
using corral::tests::result;
inline std::string error(const std::string& id, int code, const std::string& more = "") {
  return R"({"jsonrpc":"2.0","id":)" + id + R"(,"error":{"code":)" + std::to_string(code) +
         R"(,"message":"m")" + more + "}}";
}

class ModernExchange : public Outlet {
 public:
  explicit ModernExchange(const std::string& initialized = kInitialized, bool several_programs = false)
      : bridge_(modern_client(*this, {"files", initialized, nullptr, several_programs})) {}

  void to_client(const wire::Line& line, std::initializer_list<wire::Edit> edits = {}) override {
    std::string text;
    std::size_t done = 0;
    for (const wire::Edit& edit : edits) {
      if (!edit.where.present()) continue;
      text.append(line.text.substr(done, edit.where.begin - done)).append(edit.text);
      done = edit.where.end;
    }
    to_client_.push_back(text.append(line.text.substr(done)));
    last_owner = line.owner;
  }
  void to_server(const wire::Message& message) override {
    const std::string text(message.text());
    to_server_.push_back(text);
    if (on_server) on_server(text);
  }
  QuestionId next_question() override { return QuestionId(++questions_); }

  void client(const std::string& text, const std::shared_ptr<const std::string>& owner = nullptr) {
    bridge_->from_client(wire::Message(wire::Line{text, owner}), now);
  }
  void server(const std::string& text) { bridge_->from_server(wire::Message(text), now); }
  void server(const std::shared_ptr<const std::string>& text) {
    bridge_->from_server(wire::Message(wire::Line{*text, text}), now);
  }
  void pass(Clock::duration time) {
    now += time;
    bridge_->expire(now);
  }

  /// What came since the last question, as JSON.
  std::vector<boost::json::value> client_heard() { return parsed(std::exchange(to_client_, {})); }
  std::vector<boost::json::value> server_heard() { return parsed(std::exchange(to_server_, {})); }
  /// The only one; null if there was none or more.
  boost::json::value client_heard_one() { return only(client_heard()); }
  boost::json::value server_heard_one() { return only(server_heard()); }

  Bridge& bridge() { return *bridge_; }

  Clock::time_point now = Clock::time_point(std::chrono::hours(1));
  std::shared_ptr<const std::string> last_owner;
  std::function<void(const std::string&)> on_server;  // called before to_server returns

 private:
  static std::vector<boost::json::value> parsed(const std::vector<std::string>& texts) {
    std::vector<boost::json::value> values;
    for (const std::string& text : texts) values.push_back(json(text));
    return values;
  }
  static boost::json::value only(const std::vector<boost::json::value>& values) {
    return values.size() == 1 ? values.front() : boost::json::value();
  }

  std::vector<std::string> to_client_;
  std::vector<std::string> to_server_;
  std::uint64_t questions_ = 0;
  std::unique_ptr<Bridge> bridge_;
};

}  // namespace corral::bridge::tests
