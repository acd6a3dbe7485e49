#include "transport/http_refusal.h"

#include "wire/json_text.h"

namespace corral::transport {

http::Response refusal_response(const HttpRefusal& refusal, std::string_view id) {
  constexpr int kTransportCode = -32000;  // what servers usually send with a 4xx of their transport
  http::Response response;
  response.status = refusal.status;
  response.headers.push_back({"Content-Type", "application/json"});
  if (!refusal.allow.empty()) response.headers.push_back({"Allow", refusal.allow});
  if (refusal.status == 429 || refusal.status == 503) response.headers.push_back({"Retry-After", "1"});
  const int code = refusal.code == 0 ? kTransportCode : refusal.code;
  response.body = wire::error_message(id, code, refusal.message, refusal.data);
  return response;
}

void refuse_post(http::Exchange* exchange, const HttpRefusal& refusal, std::string_view id) {
  if (exchange != nullptr) exchange->reply(refusal_response(refusal, id));
}

}  // namespace corral::transport
