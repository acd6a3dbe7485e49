// A request that a legacy server sends to its client during a call, and its form for a modern client. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace corral::bridge {

/// The kinds of questions, as far as clients declare that they can answer them.
enum class Ask : std::uint8_t { Form, Url, Sampling, SamplingWithTools, Roots };

/// The questions that a client can answer.
class Abilities {
 public:
  Abilities() = default;
  /// From the capabilities that it declares, a JSON object.
  explicit Abilities(std::string_view capabilities);

  bool can(Ask ask) const { return (bits_ & bit(ask)) != 0; }
  bool any() const { return bits_ != 0; }

 private:
  static unsigned bit(Ask ask) { return 1U << static_cast<unsigned>(ask); }
  void add(Ask ask) { bits_ |= bit(ask); }

  unsigned bits_ = 0;
};

struct Question {
  std::string id;  // the server's id, JSON; empty = no answer is expected
  Ask ask = Ask::Form;
  std::string key;      // under which the client receives it
  std::string request;  // {"method":…,"params":…}
  bool told = false;
};

/// Empty if a modern client cannot be asked this.
std::optional<Ask> what_is_asked(std::string_view method, std::string_view params);
/// The capabilities that a client must declare for it. JSON.
std::string_view required_capabilities(Ask ask);
/// For messages: "elicitation by a form", …
std::string_view name_of(Ask ask);

/// The question in the form for a modern client: without members that only legacy clients know.
std::string input_request(std::string_view method, std::string_view params);
/// The key that the server suggests; empty = none.
std::string wished_key(std::string_view params);

/// The answer for the server when the client will not answer.
std::string dismissal(const Question& question);

}  // namespace corral::bridge
