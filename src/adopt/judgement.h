// Decides for one server of a client's file whether corral goes in front of it, and how. Pure but for a look
// at whether a command with spaces is a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "adopt/entry_text.h"
#include "known/config_places.h"

namespace corral::adopt {

/// The command of corral that goes in front of the server's.
enum class Through : std::uint8_t { Connect, Run };

enum class Verdict : std::uint8_t {
  Wrap,     // a command that corral can go in front of
  Kept,     // goes through corral already
  Url,      // has only a URL: there is no process to keep
  Switch,   // neither a command nor a URL: turns a server on or off that is defined elsewhere
  Refused,  // a command that corral leaves alone
  Managed,  // in a file of the administrator
};

struct Judgement {
  Verdict verdict = Verdict::Switch;
  std::string why;  // a clause; empty if there is nothing to say
  Through through = Through::Connect;
  std::vector<std::string> words;  // what follows the program: {"connect", "--name", "files", "--"}
};

/// The client and the kind of file in which an entry is, and what the user wants.
struct Circumstances {
  const known::KnownClient& client;
  known::ConfigScope scope = known::ConfigScope::User;
  Through through = Through::Connect;
};

Judgement judge(const EntryText& entry, const Circumstances& given);

const char* name_of(Verdict verdict);
const char* name_of(Through through);

}  // namespace corral::adopt
