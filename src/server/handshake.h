// The opening of one instance, in the words of its era. Pure: messages in, messages out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server/manifest.h"
#include "wire/envelope.h"

namespace corral::server {

inline constexpr std::string_view kNewestLegacy = "2025-11-25";
inline constexpr std::string_view kModern = "2026-07-28";
bool is_legacy_version(std::string_view version);

/// How an instance is to be opened.
struct Opening {
  Era era = Era::Legacy;
  /// The parameters of `initialize` as JSON: a private instance gets its client's own, word for word.
  std::string initialize_params;
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
    Refused,   // `error()` is the server's own
    OtherEra,  // asked in the modern way, it answered as a legacy server does
  };

  Handshake(Opening opening, std::uint64_t id) : opening_(std::move(opening)), id_(id) {}

  std::string request() const;
  /// True if the message was the answer that we wait for.
  bool take(std::string_view line, const wire::Envelope& envelope);
  /// No answer came in time, or none can come any more.
  void give_up(std::string_view why);
  /// What to send once it went well; empty = nothing.
  std::string_view follow_up() const;

  /// The outcome is the server's own word, not our conclusion from its silence.
  bool answered() const { return answered_; }
  Era era() const { return opening_.era; }
  Outcome outcome() const { return outcome_; }
  const std::string& result() const { return answer_; }  // JSON of the result
  const std::string& error() const { return answer_; }   // JSON of the error

 private:
  Opening opening_;
  std::uint64_t id_;
  Outcome outcome_ = Outcome::Waiting;
  std::string answer_;
  bool answered_ = false;
};

}  // namespace corral::server
