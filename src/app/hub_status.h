// The state of a hub as JSON, for `corral status`. Names, numbers and reasons; never an argument or a
// variable.
#pragma once

#include <string>

#include "app/guest.h"
#include "app/owned_sessions.h"
#include "base/loop.h"
#include "config/configuration.h"
#include "router/switchboard.h"

namespace corral::app {

struct HubView {
  const config::Configuration& configuration;
  const std::string& configuration_error;
  const Guests& guests;
  const OwnedSessions& owned;
  const router::Switchboard& switchboard;
  Clock::time_point started;
  const std::string& http_url;   // empty = no TCP door
  const std::string& http_unix;  // empty = none
};

std::string status_json(const HubView& view);

}  // namespace corral::app
