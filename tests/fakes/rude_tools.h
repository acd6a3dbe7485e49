// What the rude server does when it is called, and the few words of MCP that it speaks.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "adversary_options.h"

namespace corral::fakes {

struct RudeOptions {
  AdversaryOptions tree;
  std::string start;        // exit:CODE, banner, silent, slow:MS
  std::string flap;         // FILE:PATTERN
  std::string list;         // a file with one tool per line, its name or its JSON
  std::string pings;        // a file that gets a byte for each
  std::string cancelled;    // the same for calls that are cancelled
  std::string silent;       // the same for calls of the tool of that name
  std::size_t page = 1000;  // tools in one answer
};

/// What one process of it remembers. A new start knows nothing of it.
struct RudeState {
  std::vector<std::string> tools;    // as JSON
  std::string waiting;               // the id of the call that waits for the client's answer
  std::string remembered;            // by the last caller
  std::set<std::string> subscribed;  // URIs
  bool leaves_after_handshake = false;
  bool frozen = false;
};

/// One request.
struct Asked {
  const RudeOptions& options;
  RudeState& state;
  std::string id;
  std::string token;
  std::string arg;

  void reply(std::string_view text) const;
  void reply_with(std::string_view result) const;  // JSON
};

void write_all(int fd, std::string_view bytes);
void say(const std::string& line);

/// Says why on stderr, and exits.
[[noreturn]] void leave(const std::string& code);

/// False if there is no such tool.
bool call_tool(const std::string& name, const Asked& asked);

}  // namespace corral::fakes
