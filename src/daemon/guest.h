// A client that is here, and where it came from.
#pragma once

#include <list>
#include <memory>
#include <optional>

#include "daemon/origin.h"
#include "transport/http_session_opener.h"
#include "transport/stdio_client.h"

namespace corral::daemon {

struct Guest {
  Origin origin;
  Account::Held place;                            // by stdio; whoever comes by HTTP is counted there
  std::unique_ptr<transport::StdioClient> stdio;  // null = it came by HTTP
  session::Session* by_http = nullptr;            // its transport owns it, and tells of its end
  std::optional<transport::HttpArrival> arrival;  // by HTTP: what it asked for, and might
  const char* transport = "stdio";
  InstanceId instance;  // the last one that it had
  pid_t bound = 0;      // by HTTP: the process that it ends with, if it is known

  session::Session& session() { return stdio ? stdio->session() : *by_http; }
  const session::Session& session() const { return stdio ? stdio->session() : *by_http; }
  pid_t client_pid() const { return stdio ? stdio->client_pid() : bound; }
  pid_t shim_pid() const { return stdio ? stdio->shim_pid() : 0; }
};

using Guests = std::list<Guest>;

}  // namespace corral::daemon
