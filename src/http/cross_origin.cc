#include "http/cross_origin.h"

#include <utility>

namespace corral::http {
namespace {

class ForOrigin final : public Exchange {
 public:
  ForOrigin(std::shared_ptr<Exchange> exchange, std::string origin)
      : exchange_(std::move(exchange)), origin_(std::move(origin)) {}

  const Peer& peer() const override { return exchange_->peer(); }
  void reply(Response response) override {
    tell(response.headers);
    exchange_->reply(std::move(response));
  }
  void begin(int status, Headers headers) override {
    tell(headers);
    exchange_->begin(status, std::move(headers));
  }
  void write(const wire::Line& piece) override { exchange_->write(piece); }
  void finish() override { exchange_->finish(); }
  std::size_t queued() const override { return exchange_->queued(); }
  void when_drained(Task task) override { exchange_->when_drained(std::move(task)); }
  void when_gone(Task task) override { exchange_->when_gone(std::move(task)); }

 private:
  void tell(Headers& headers) const {
    headers.push_back({"Access-Control-Allow-Origin", origin_});
    headers.push_back({"Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate"});
    headers.push_back({"Vary", "Origin"});
  }

  std::shared_ptr<Exchange> exchange_;
  std::string origin_;
};

}  // namespace

bool is_preflight(const Request& request) {
  return request.method == "OPTIONS" && request.find("Access-Control-Request-Method") != nullptr;
}

Response preflight_reply(const std::string& origin) {
  return {204,
          {{"Access-Control-Allow-Origin", origin},
           {"Access-Control-Allow-Methods", "GET, POST, DELETE"},
           {"Access-Control-Allow-Headers",
            "Content-Type, Accept, Authorization, Mcp-Session-Id, MCP-Protocol-Version, Last-Event-ID, "
            "Mcp-Method, Mcp-Name"},
           {"Access-Control-Max-Age", "600"},
           {"Vary", "Origin"}},
          "",
          nullptr};
}

std::shared_ptr<Exchange> for_origin(std::shared_ptr<Exchange> exchange, std::string origin) {
  return std::make_shared<ForOrigin>(std::move(exchange), std::move(origin));
}

}  // namespace corral::http
