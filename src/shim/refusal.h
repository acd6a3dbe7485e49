// Tells a client that it gets no session. A client reads what its server says on stdout, and few show what is
// on stderr, so the answer to its first request must be the reason: without one, a client shows only that the
// server has closed the connection.
#pragma once

#include <chrono>
#include <string>

namespace corral::shim {

/// What the client is asked for, and where it is answered.
struct RefusedClient {
  int input;
  int output;
  int stop = -1;  // readable as soon as it is not worth waiting any longer; -1 = never
  std::chrono::milliseconds patience{2000};
};

/// Reads until the first request of the client and answers it with an error. Returns whether it did: false if
/// none came in time, if the input is a terminal or at its end, or if the client does not read. Call it only
/// if nobody else reads the input.
bool answer_refused(const RefusedClient& client, const std::string& why);

}  // namespace corral::shim
