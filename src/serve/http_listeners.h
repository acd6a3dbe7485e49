// The HTTP listeners: always one on a Unix socket next to the control socket, and one on a TCP port if the
// user configured one. Both use the same endpoint, each with its own access rules. The daemon owns it and
// destroys it before the hub. Must be used on the loop's thread.
#pragma once

#include <memory>
#include <string>

#include "config/configuration.h"
#include "daemon/http_front.h"
#include "daemon/token_file.h"
#include "http/listener.h"
#include "serve/listening_socket.h"
#include "transport/http_endpoint.h"

namespace corral::serve {

class HttpListeners {
 public:
  /// If `tcp` is invalid, there is no TCP listener. `hub` and `tokens` must outlive this object.
  HttpListeners(Loop& loop, daemon::Hub& hub, const config::Options& options, UniqueFd local, UniqueFd tcp,
                daemon::TokenFile& tokens);

  /// Accepts no more connections. Open ones still get their answers.
  void close();
  /// Empty without a TCP listener.
  const std::string& url() const { return url_; }

 private:
  std::unique_ptr<http::Listener> open(Loop& loop, UniqueFd socket, const http::Limits& limits,
                                       daemon::HttpFront& front);

  std::string url_;
  transport::HttpEndpoint endpoint_;
  daemon::HttpFront local_front_;
  daemon::HttpFront tcp_front_;
  std::unique_ptr<http::Listener> local_;
  std::unique_ptr<http::Listener> tcp_;
};

}  // namespace corral::serve
