// The state of a hub as JSON, for `corral status`. Names, numbers and reasons; never an argument or a
// variable.
#pragma once

#include <list>
#include <string>

#include "base/loop.h"
#include "client/stdio_client.h"
#include "config/configuration.h"
#include "router/switchboard.h"

namespace corral::app {

struct HubView {
  const config::Configuration& configuration;
  const std::list<client::StdioClient>& clients;
  const router::Switchboard& switchboard;
  Clock::time_point started;
};

std::string status_json(const HubView& view);

}  // namespace corral::app
