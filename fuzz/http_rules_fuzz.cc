// What a client may post, byte by byte: headers, an empty line, the body, a record separator, and the tools
// that the server is known to have. Whatever comes is let through as what it is, or refused with an error
// that is JSON; never a crash.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "transport/http_rules.h"
#include "wire/json_text.h"

namespace {

using namespace corral;
using namespace corral::transport;

void demand(bool truth) {
  if (!truth) abort();
}

std::string_view take_up_to(std::string_view& text, std::string_view separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view piece = text.substr(0, end);
  text.remove_prefix(std::min(end + separator.size(), text.size()));
  return piece;
}

http::Request read_post(std::string_view head, std::string_view body) {
  http::Request request;
  request.method = "POST";
  while (!head.empty()) {
    std::string_view line = take_up_to(head, "\n");
    const std::string_view name = take_up_to(line, ": ");
    request.headers.push_back({std::string(name), std::string(line)});
  }
  request.body = std::make_shared<const std::string>(body);
  request.peer = std::make_shared<const http::Peer>();
  return request;
}

void check_refusal(const HttpRefusal& refusal, std::string_view id) {
  demand(refusal.status >= 400 && refusal.status < 500);
  const http::Response response = refusal_response(refusal, id);
  const wire::Message message(response.body);
  demand(message.kind() == wire::Kind::Response && message.has_error());
  demand(wire::member_text(response.body, "id") == id);
}

void check_taken(const http::Request& request, const Classified& taken, std::string_view tools) {
  const wire::Message& message = taken.posted.message;
  const std::string_view body = message.text();
  demand(body.find_first_of("\r\n") == std::string_view::npos && body.size() == request.body->size());
  demand(message.kind() != wire::Kind::NotJson && message.kind() != wire::Kind::NotRpc);
  const std::string_view method = message.method();
  demand((taken.kind == Classified::Kind::Initialize) <= (method == "initialize" && taken.session.empty()));
  if (taken.kind == Classified::Kind::Modern && message.kind() == wire::Kind::Request) {
    demand(request.count("mcp-method") == 1 && request.header("mcp-method") == method);
    demand(request.header("mcp-protocol-version") == "2026-07-28");
    demand(wire::string_value(message.protocol_version()) == "2026-07-28");
  }
  const auto refusal = check_param_headers(request, taken.posted, tools);
  if (!refusal) return;
  demand(refusal->code == -32020 && method == "tools/call");
  check_refusal(*refusal, message.has_id() ? message.id() : "null");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view head = take_up_to(text, "\n\n");
  const std::string_view body = take_up_to(text, "\x1e");
  const http::Request request = read_post(head, body);
  const auto said = classify_post(request);
  if (const auto* refused = std::get_if<RefusedPost>(&said)) check_refusal(refused->refusal, refused->id);
  // What a server says of its tools was found to be JSON when it came.
  const std::string_view tools = wire::is_strict_object(text) ? text : std::string_view();
  if (const auto* taken = std::get_if<Classified>(&said)) check_taken(request, *taken, tools);
  for (const auto& refusal : {check_get(request), check_delete(request)}) {
    if (refusal) check_refusal(*refusal, "null");
  }
  modern_status(wire::Message(body));
  return 0;
}
