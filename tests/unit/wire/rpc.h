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

inline std::string result(const std::string& id, const std::string& value = "{}") {
  return R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":)" + value + "}";
}

/// The result of a request that was heard, under its id.
inline std::string answer_to(const std::string& heard, const std::string& value = "{}") {
  return result(boost::json::serialize(boost::json::parse(heard).at("id")), value);
}

}  // namespace corral::tests
