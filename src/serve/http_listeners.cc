#include "serve/http_listeners.h"

#include <sys/resource.h>

#include <algorithm>

#include "serve/http_socket.h"

namespace corral::serve {
namespace {

/// `tcp` is invalid for the local socket. The address of the socket decides, not the configuration: --bind or
/// the service manager may have chosen another one.
http::AccessRules rules_for(const config::Http& http, const UniqueFd& tcp) {
  http::AccessRules rules;
  if (tcp.valid()) {
    rules.port = port_of(tcp.get());
    rules.address = host_of(tcp.get());
  }
  rules.hosts = http.hosts;
  rules.origins = http.origins;
  return rules;
}

/// Any program may connect before it is identified. Sessions and servers need descriptors too, so one
/// listener uses at most a quarter of them.
http::Limits limits_for(const config::Options& options) {
  http::Limits limits;
  limits.body = options.line_cap;
  rlimit descriptors{};
  if (getrlimit(RLIMIT_NOFILE, &descriptors) != 0 || descriptors.rlim_cur == RLIM_INFINITY) return limits;
  limits.connections = std::min<std::size_t>(limits.connections, descriptors.rlim_cur / 4);
  limits.connections_per_peer = std::min(limits.connections_per_peer, limits.connections * 3 / 4);
  return limits;
}

transport::HttpLimits session_limits_for(const config::Options& options) {
  transport::HttpLimits limits;
  limits.queued = options.line_cap + (std::size_t{32} << 20);  // more than one answer of the largest size
  return limits;
}

}  // namespace

HttpListeners::HttpListeners(Loop& loop, daemon::Hub& hub, const config::Options& options, UniqueFd local,
                             UniqueFd tcp, daemon::TokenFile& tokens)
    : url_(tcp.valid() ? url_of(tcp.get()) : ""),
      endpoint_(loop, hub, session_limits_for(options), options.http.idle),
      local_front_(
          hub, endpoint_,
          rules_for(options.http, UniqueFd()), [&tokens]() -> auto& { return tokens.current(); }),
      tcp_front_(
          hub, endpoint_, rules_for(options.http, tcp), [&tokens]() -> auto& { return tokens.current(); }) {
  const http::Limits limits = limits_for(options);
  if (local.valid()) local_ = open(loop, std::move(local), limits, local_front_);
  if (tcp.valid()) tcp_ = open(loop, std::move(tcp), limits, tcp_front_);
}

std::unique_ptr<http::Listener> HttpListeners::open(Loop& loop, UniqueFd socket, const http::Limits& limits,
                                                    daemon::HttpFront& front) {
  return std::make_unique<http::Listener>(
      loop, std::move(socket), limits,
      [&front](const http::Request& request, std::shared_ptr<http::Exchange> exchange) {
        front.handle(request, std::move(exchange));
      },
      [&front](const http::Request& head) { return front.refuse_early(head); });
}

void HttpListeners::close() {
  if (local_) local_->close();
  if (tcp_) tcp_->close();
}

}  // namespace corral::serve
