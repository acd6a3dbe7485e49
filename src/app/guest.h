// A client that is here, and where it came from.
#pragma once

#include <list>

#include "app/origin.h"
#include "client/stdio_client.h"

namespace corral::app {

struct Guest {
  Guest(Loop& loop, client::Arrival arrival, std::shared_ptr<client::ShimLine> line, std::size_t line_cap,
        client::StdioClient::Gone gone, Origin from)
      : client(loop, std::move(arrival), std::move(line), line_cap, std::move(gone)),
        origin(std::move(from)) {}

  session::Session& session() { return client.session(); }
  const session::Session& session() const { return client.session(); }

  client::StdioClient client;
  Origin origin;
};

using Guests = std::list<Guest>;

}  // namespace corral::app
