// Why a server was lost, and the end of its stderr. The reason is for every session and for the log. The text
// from stderr may repeat what one client sent, so only a session that it can be about may read it.
#pragma once

#include <cstdint>
#include <string>

#include "base/id.h"

namespace corral::router {

struct LastWords {
  /// Which sessions may read `stderr_end`.
  enum class Readers : std::uint8_t {
    None,
    One,  // `about`: no other session ever sent this instance a request
    All,  // no session had sent a request yet
  };

  std::string sentence;      // the reason, without a period
  std::string stderr_end{};  // empty = the server wrote nothing
  std::string server{};      // its name; set if `stderr_end` is
  Readers readers = Readers::None;
  SessionId about{};

  /// The reason for this session; with the end of stderr if the session may read it.
  std::string to(SessionId session) const {
    const bool may_read = readers == Readers::All || (readers == Readers::One && about == session);
    return may_read ? sentence + "; its stderr ended with: " + stderr_end : for_log();
  }
  /// Without a word from stderr, which is in the server's own log file: only its owner reads that.
  std::string for_log() const {
    return stderr_end.empty() ? sentence : sentence + "; `corral logs " + server + "` shows its stderr";
  }
};

}  // namespace corral::router
