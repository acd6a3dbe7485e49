#include "observe/tool.h"

#include <boost/json/value.hpp>
#include <optional>

#include "base/words.h"
#include "wire/json_writer.h"

namespace corral::observe {
namespace {

namespace json = boost::json;
using wire::JsonObject;

constexpr std::size_t kLongestText = 4096;

const char* type_name(Parameter::Type type) {
  switch (type) {
    case Parameter::Type::Text: return "string";
    case Parameter::Type::Number: return "integer";
    case Parameter::Type::Flag: return "boolean";
  }
  return "string";
}

std::string schema_of(const Parameter& parameter) {
  JsonObject schema;
  schema.text("type", type_name(parameter.type)).text("description", parameter.description);
  if (parameter.type == Parameter::Type::Number) {
    schema.number("minimum", parameter.least).number("maximum", parameter.most);
  }
  if (parameter.type == Parameter::Type::Flag) schema.flag("default", false);
  if (parameter.type == Parameter::Type::Text && parameter.required) schema.number("minLength", 1);
  return schema.json();
}

std::string input_schema(const std::vector<Parameter>& parameters) {
  JsonObject properties;
  std::vector<std::string> required;
  for (const Parameter& parameter : parameters) {
    properties.raw(parameter.name, schema_of(parameter));
    if (parameter.required) required.push_back(parameter.name);
  }
  JsonObject schema;
  schema.text("type", "object").raw("properties", properties.json());
  if (!required.empty()) schema.raw("required", wire::array_of_texts(required));
  return schema.flag("additionalProperties", false).json();
}

/// A whole number, including 5.0 and 5e0, which are integers in JSON Schema.
std::optional<std::int64_t> whole_number(const json::value& value) {
  if (value.is_int64()) return value.get_int64();
  if (!value.is_double()) return std::nullopt;  // a uint64 is beyond every maximum
  const double number = value.get_double();
  if (!(number > -1e15 && number < 1e15)) return std::nullopt;
  const auto whole = static_cast<std::int64_t>(number);
  return static_cast<double>(whole) == number ? std::optional(whole) : std::nullopt;
}

std::string why_not_text(const Parameter& parameter, const json::value& value) {
  // A model that has read "id": 3 may write the number 3.
  if (value.is_int64() || value.is_uint64()) return "";
  if (!value.is_string()) return "must be a string";
  const std::string_view text = value.get_string();
  if (text.empty() && parameter.required) return "is empty";
  if (text.size() > kLongestText) return "is longer than " + std::to_string(kLongestText) + " bytes";
  for (const char byte : text) {
    if (static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f) return "contains a control character";
  }
  return "";
}

std::string why_not(const Parameter& parameter, const json::value& value) {
  switch (parameter.type) {
    case Parameter::Type::Flag: return value.is_bool() ? "" : "must be true or false";
    case Parameter::Type::Text: return why_not_text(parameter, value);
    case Parameter::Type::Number: break;
  }
  const std::optional<std::int64_t> number = whole_number(value);
  if (number && *number >= parameter.least && *number <= parameter.most) return "";
  return "must be a whole number from " + std::to_string(parameter.least) + " to " +
         std::to_string(parameter.most);
}

std::string what_it_takes(const Tool& tool) {
  std::string names;
  for (const Parameter& parameter : tool.parameters) names += (names.empty() ? "" : ", ") + parameter.name;
  return names.empty() ? "it takes no arguments" : "it takes " + names;
}

Error unknown_argument(const Tool& tool, std::string_view name) {
  std::vector<std::string> names;
  for (const Parameter& parameter : tool.parameters) names.push_back(parameter.name);
  const std::string nearest = nearest_word(name.substr(0, kLongestText), names);
  return Error{"tool " + tool.name + " has no argument " + wire::quoted(name.substr(0, 64)) + ": " +
               (nearest.empty() ? "" : "did you mean \"" + nearest + "\"? ") + what_it_takes(tool)};
}

}  // namespace

std::string to_json(const Tool& tool) {
  const bool reads = tool.effect == Tool::Effect::Reads;
  JsonObject annotations;
  annotations.text("title", tool.title)
      .flag("readOnlyHint", reads)
      .flag("destructiveHint", tool.effect == Tool::Effect::Ends)
      .flag("idempotentHint", reads || tool.idempotent)
      .flag("openWorldHint", false);
  return JsonObject()
      .text("name", tool.name)
      .text("title", tool.title)
      .text("description", tool.description)
      .raw("inputSchema", input_schema(tool.parameters))
      .raw("outputSchema", tool.output_schema)
      .raw("annotations", annotations.json())
      .json();
}

Result<void> check_arguments(const Tool& tool, const json::object& arguments) {
  for (const auto& member : arguments) {
    const Parameter* known = nullptr;
    for (const Parameter& parameter : tool.parameters) {
      if (parameter.name == std::string_view(member.key())) known = &parameter;
    }
    if (known == nullptr) return unknown_argument(tool, member.key());
    const std::string trouble = why_not(*known, member.value());
    if (!trouble.empty()) {
      return Error{"tool " + tool.name + ": argument \"" + known->name + "\" " + trouble +
                   "; it is: " + known->description};
    }
  }
  for (const Parameter& parameter : tool.parameters) {
    if (parameter.required && !arguments.contains(parameter.name)) {
      return Error{"tool " + tool.name + ": argument \"" + parameter.name +
                   "\" is missing; it is: " + parameter.description};
    }
  }
  return {};
}

std::string text_argument(const json::object& arguments, std::string_view name) {
  const json::value* const value = arguments.if_contains(name);
  if (value == nullptr) return "";
  if (value->is_int64()) return std::to_string(value->get_int64());
  if (value->is_uint64()) return std::to_string(value->get_uint64());
  return value->is_string() ? std::string(value->get_string()) : "";
}

bool flag_argument(const json::object& arguments, std::string_view name) {
  const json::value* const value = arguments.if_contains(name);
  return value != nullptr && value->is_bool() && value->get_bool();
}

std::int64_t number_argument(const json::object& arguments, std::string_view name, std::int64_t otherwise) {
  const json::value* const value = arguments.if_contains(name);
  return value == nullptr ? otherwise : whole_number(*value).value_or(otherwise);
}

}  // namespace corral::observe
