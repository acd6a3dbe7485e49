// A tool of the control server as data: what is said about it, what it takes, and who does it.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace corral::observe {

struct Parameter {
  enum class Type : std::uint8_t { Text, Number, Flag };

  std::string name;
  Type type = Type::Text;
  std::string description;
  bool required = false;
  std::int64_t least = 0;  // Number only
  std::int64_t most = 0;   // Number only
};

/// What a call came to. A failure is told to whoever called, so that he can do better: noun, cause, next
/// step.
struct ToolResult {
  bool failed = false;
  std::string text;        // for whoever reads; compact
  std::string structured;  // the same as a JSON object that fits `output_schema`; empty if failed
};

inline ToolResult tool_failure(std::string sentence) { return {true, std::move(sentence), {}}; }

struct Tool {
  enum class Effect : std::uint8_t {
    Reads,    // changes nothing
    Changes,  // changes something, destroys nothing
    Ends,     // ends processes or sessions
  };

  std::string name;
  std::string title;
  std::string description;
  std::vector<Parameter> parameters;
  std::string output_schema;  // JSON
  Effect effect = Effect::Reads;
  bool idempotent = false;  // calling it twice with the same arguments is like calling it once
  /// The arguments have been checked: what is there has the type of its parameter, and a text holds no
  /// control character. Runs on another thread than the server's; must not wait for ever.
  std::function<ToolResult(const boost::json::object& arguments)> run;
};

/// As an entry of the result of tools/list.
std::string to_json(const Tool& tool);

/// Why the arguments do not fit the tool; what to write instead.
Result<void> check_arguments(const Tool& tool, const boost::json::object& arguments);

// Arguments that were checked.
std::string text_argument(const boost::json::object& arguments, std::string_view name);  // "" = not given
bool flag_argument(const boost::json::object& arguments, std::string_view name);
std::int64_t number_argument(const boost::json::object& arguments, std::string_view name,
                             std::int64_t otherwise);

}  // namespace corral::observe
