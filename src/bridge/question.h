// What a legacy server asks of its client while it works on a call, and how a modern client hears of it.
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace corral::bridge {

/// What is asked, as far as clients declare that they can answer it.
enum class Ask : std::uint8_t { Form, Url, Sampling, SamplingWithTools, Roots };

/// What a client can be asked.
class Abilities {
 public:
  Abilities() = default;
  /// From the capabilities that it declares, a JSON object.
  explicit Abilities(std::string_view capabilities);

  bool can(Ask ask) const { return (bits_ & bit(ask)) != 0; }
  bool any() const { return bits_ != 0; }

 private:
  static unsigned bit(Ask ask) { return 1U << static_cast<unsigned>(ask); }
  void add(Ask ask, bool can) { bits_ |= can ? bit(ask) : 0; }

  unsigned bits_ = 0;
};

struct Question {
  std::string id;  // the server's, JSON; empty = nobody waits for the answer
  Ask ask = Ask::Form;
  std::string key;      // under which the client hears it
  std::string request;  // {"method":…,"params":…}
  bool told = false;
};

/// Nothing if a modern client cannot be asked this.
std::optional<Ask> what_is_asked(std::string_view method, std::string_view params);
/// The capabilities that a client must declare for it. JSON.
std::string_view required_capabilities(Ask ask);
/// In words: "elicitation", …
std::string_view name_of(Ask ask);

/// The question as a modern client is asked: without what only legacy clients know.
std::string input_request(std::string_view method, std::string_view params);
/// The key that the server wishes for; empty = none.
std::string wished_key(std::string_view params);

/// Tells the server that nobody will answer.
std::string dismissal(const Question& question);

}  // namespace corral::bridge
