// JSON-RPC messages for tests. Ids and parameters are JSON text and are not checked, so that a test can also
// build what is wrong.
#pragma once

#include <boost/json.hpp>
#include <string>

namespace corral::tests {

inline std::string request(const std::string& id, const std::string& method,
                           const std::string& params = "{}") {
  return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + method + R"(","params":)" + params + "}";
}

/// A call of a tool.
inline std::string call(const std::string& id, const std::string& tool = "work") {
  return request(id, "tools/call", R"({"name":")" + tool + "\"}");
}

inline std::string notification(const std::string& method, const std::string& params = "{}") {
  return R"({"jsonrpc":"2.0","method":")" + method + R"(","params":)" + params + "}";
}

/// Takes back a request.
inline std::string cancelled(const std::string& id) {
  return notification("notifications/cancelled", R"({"requestId":)" + id + "}");
}

inline std::string result(const std::string& id, const std::string& value = "{}") {
  return R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":)" + value + "}";
}

/// The result of a request that was heard, under its id.
inline std::string answer_to(const std::string& heard, const std::string& value = "{}") {
  return result(boost::json::serialize(boost::json::parse(heard).at("id")), value);
}

}  // namespace corral::tests
