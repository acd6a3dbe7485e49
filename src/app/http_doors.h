// The doors for clients that come by URL: one at the socket beside the control socket, always, and one at a
// TCP port where the user wants it.
#pragma once

#include <memory>
#include <string>

#include "app/http_front.h"
#include "app/listening_socket.h"
#include "app/token_file.h"
#include "client/http_endpoint.h"
#include "config/configuration.h"
#include "http/listener.h"

namespace corral::app {

class HttpDoors {
 public:
  /// `tcp` may be invalid: no such door.
  HttpDoors(Loop& loop, Hub& hub, const config::Options& options, UniqueFd local, UniqueFd tcp,
            TokenFile& tokens);

  /// Nobody comes in any more; those who are here get their answers.
  void close();
  /// Empty without a TCP door.
  const std::string& url() const { return url_; }

 private:
  std::unique_ptr<http::Listener> open(Loop& loop, UniqueFd socket, const http::Limits& limits,
                                       HttpFront& front);

  std::string url_;
  client::HttpEndpoint endpoint_;
  HttpFront local_front_;
  HttpFront tcp_front_;
  std::unique_ptr<http::Listener> local_;
  std::unique_ptr<http::Listener> tcp_;
};

}  // namespace corral::app
