// Requests as a client would post them.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "http/message.h"
#include "wire/rpc.h"

namespace corral::transport {

inline const std::string kModernMeta =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})";

inline http::Request bare_post(std::string body, http::Headers headers) {
  http::Request request;
  request.method = "POST";
  request.path = "/mcp/files";
  request.headers = std::move(headers);
  request.body = std::make_shared<const std::string>(std::move(body));
  request.peer = std::make_shared<const http::Peer>();
  return request;
}

/// With the two headers that every POST needs.
inline http::Request json_post(std::string body, const http::Headers& more = {}) {
  http::Headers headers = {{"Content-Type", "application/json"},
                           {"Accept", "application/json, text/event-stream"}};
  headers.insert(headers.end(), more.begin(), more.end());
  return bare_post(std::move(body), std::move(headers));
}

inline std::string modern_message(const std::string& id, const std::string& method,
                                  const std::string& more = "", const std::string& meta = kModernMeta) {
  return tests::request(id, method, "{" + meta + more + "}");
}

/// A proper one, but for what `more` adds.
inline http::Request modern_post(const std::string& method, const std::string& params = "",
                                 http::Headers more = {}) {
  more.push_back({"MCP-Protocol-Version", "2026-07-28"});
  more.push_back({"Mcp-Method", method});
  return json_post(modern_message("7", method, params), more);
}

}  // namespace corral::transport
