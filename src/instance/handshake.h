// The opening of one instance: finds out which era its server speaks, and greets it so. Pure: messages in,
// messages out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/id.h"
#include "knowledge/manifest.h"
#include "wire/message.h"

namespace corral::instance {

/// How an instance is to be opened.
struct Opening {
  std::optional<knowledge::Era> expected;  // nothing = find out
  bool pinned = false;                     // by the configuration: the other era is not tried
  /// The parameters of `initialize` as JSON: a private instance gets its client's own, word for word.
  std::string initialize_params{};
  /// A private instance is told `notifications/initialized` by its client, a shared one by us.
  bool announce = true;
};

/// What a shared instance is told: our name, and no capability, because over one pipe nothing would link its
/// questions to the session that caused them.
std::string plain_initialize_params();

/// Of `server/discover`, in our own name.
std::string discover_params();

class Handshake {
 public:
  enum class Outcome : std::uint8_t {
    Waiting,
    Ready,
    Refused,    // `error()` is the server's own
    NotModern,  // it had no answer to server/discover; a fresh process is to be asked in the legacy way
  };

  explicit Handshake(Opening opening);

  /// To send now, and whenever `take` says so.
  std::string request(CallId id);
  enum class Taken : std::uint8_t { No, Over, AskAgain };
  /// `No` if the message was not the answer that we wait for.
  Taken take(const wire::Message& message);
  /// The same for an answer that cannot be read: `id` is JSON text, `why` says what is wrong with it.
  Taken take_unreadable(std::string_view id, std::string_view why);
  /// No answer came in time, or none can come any more.
  void give_up(std::string_view why);
  /// It was never started.
  void fail(std::string_view why);
  /// What to send once it went well; empty = nothing.
  std::string follow_up() const;

  /// Whether its silence would say something: those who do not know the question may stay silent about it.
  bool probing() const { return era_ == knowledge::Era::Modern && !opening_.expected && !asked_legacy_; }
  /// The one that is being tried, and in the end the one that it speaks.
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
