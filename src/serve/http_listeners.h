// The listeners for clients by HTTP: always one at the socket beside the control socket, and one at a TCP
// port where the user wants it. Both lead to the same endpoint, each with its own access rules. The service
// owns it, and destroys it before the hub. Belongs to the loop thread.
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
  /// `tcp` may be invalid: then there is no TCP listener. Hub and tokens outlive it.
  HttpListeners(Loop& loop, daemon::Hub& hub, const config::Options& options, UniqueFd local, UniqueFd tcp,
                daemon::TokenFile& tokens);

  /// No new connections. Those that are open get their answers.
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
