// What `corral serve` says to a person at its terminal. Pure.
#pragma once

#include <string>
#include <vector>

namespace corral::serve {

struct Welcome {
  long pid = 0;
  std::string config;                // the configuration; empty = none
  bool config_found = false;         // if not, there is no such file
  std::vector<std::string> servers;  // the configured ones
  std::string command;  // the name of the only server, with `serve -- COMMAND`; empty = no command
  std::string url;      // where the daemon accepts clients by URL; empty = nowhere
};

/// What is served, where, how a client connects and what ends it: whole lines.
std::string welcome_text(const Welcome& daemon);

}  // namespace corral::serve
