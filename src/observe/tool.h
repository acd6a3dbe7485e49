// A tool of the control server as data: its description, its parameters, and the function that implements it.
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

/// The result of a call. The text of a failure is for the caller, usually a model: noun, cause, next step.
struct ToolResult {
  bool failed = false;
  std::string text;        // compact, for the reader
  std::string structured;  // a JSON object that matches `output_schema`; empty if failed
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
  bool idempotent = false;  // a second call with the same arguments has no further effect
  /// The arguments have been checked: each has the type of its parameter, and texts contain no control
  /// characters. Runs on a thread other than the server's, and must return within a bounded time.
  std::function<ToolResult(const boost::json::object& arguments)> run;
};

/// The tool's entry in the result of tools/list.
std::string to_json(const Tool& tool);

/// The error says why the arguments are not valid and what to write instead.
Result<void> check_arguments(const Tool& tool, const boost::json::object& arguments);

// Accessors for checked arguments.
std::string text_argument(const boost::json::object& arguments, std::string_view name);  // "" = missing
bool flag_argument(const boost::json::object& arguments, std::string_view name);
std::int64_t number_argument(const boost::json::object& arguments, std::string_view name,
                             std::int64_t otherwise);

}  // namespace corral::observe
