// The handshake with the server of one instance: finds out which era it supports, and opens it in that era.
// Pure: messages in, messages out; the owner has the timers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/id.h"
#include "knowledge/manifest.h"
#include "wire/message.h"

namespace corral::instance {

/// How to open an instance.
struct Opening {
  std::optional<knowledge::Era> expected;  // empty = try the modern era first
  bool pinned = false;                     // the configuration says so: the other era is not tried
  /// The parameters of `initialize`, JSON. A private instance receives those of its client, unchanged.
  std::string initialize_params{};
  /// Whether to send `notifications/initialized`; the client of a private instance sends it itself.
  bool announce = true;
};

/// The parameters of `initialize` for a shared instance: corral's name and no capability, because nothing
/// would link a question of the server to the session that caused it.
std::string plain_initialize_params();

/// The parameters of `server/discover`, with corral as the client.
std::string discover_params();

class Handshake {
 public:
  enum class Outcome : std::uint8_t {
    Waiting,
    Ready,
    Refused,    // `error()` is the server's error
    NotModern,  // it did not answer server/discover; a new process must be opened in the legacy era
  };

  explicit Handshake(Opening opening);

  /// The message to send now, and again whenever `take` returns AskAgain.
  std::string request(CallId id);
  enum class Taken : std::uint8_t { No, Over, AskAgain };
  /// Give it every message from the server. `No`: the message is not the answer to the handshake.
  Taken take(const wire::Message& message);
  /// The same for an answer that is not valid: `id` is JSON text, `why` says what is wrong with it.
  Taken take_unreadable(std::string_view id, std::string_view why);
  /// No answer arrived in time, or none can arrive any more. `why` is a sentence for the client.
  void give_up(std::string_view why);
  /// The server was never started. `why` is a sentence for the client.
  void fail(std::string_view why);
  /// The message to send after the outcome Ready; empty = none.
  std::string follow_up() const;

  /// Whether silence means something: a legacy server may not answer a method that it does not know.
  bool probing() const { return era_ == knowledge::Era::Modern && !opening_.expected && !asked_legacy_; }
  /// The era that is being tried; with the outcome Ready, the era of the server.
  knowledge::Era era() const { return era_; }
  Outcome outcome() const { return outcome_; }
  const std::string& initialize_params() const { return opening_.initialize_params; }
  const std::string& result() const { return answer_; }  // JSON of the result
  const std::string& error() const { return answer_; }   // JSON of the error

 private:
  Taken take_error(std::string_view error);

  Opening opening_;
  knowledge::Era era_;
  CallId id_;
  Outcome outcome_ = Outcome::Waiting;
  std::string answer_;
  bool asked_legacy_ = false;
  bool asked_modern_ = false;
};

}  // namespace corral::instance
