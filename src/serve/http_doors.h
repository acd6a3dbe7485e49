// The doors for clients that come by URL: one at the socket beside the control socket, always, and one at a
// TCP port where the user wants it.
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

class HttpDoors {
 public:
  /// `tcp` may be invalid: no such door.
  HttpDoors(Loop& loop, daemon::Hub& hub, const config::Options& options, UniqueFd local, UniqueFd tcp,
            daemon::TokenFile& tokens);

  /// Nobody comes in any more; those who are here get their answers.
  void close();
  /// Empty without a TCP door.
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
