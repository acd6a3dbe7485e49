#include "cli/direct/tool_arguments.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <set>

#include "base/text.h"
#include "base/words.h"
#include "cli/screen/json_layout.h"
#include "cli/screen/json_view.h"
#include "wire/json_text.h"

namespace corral::cli {
namespace {

namespace json = boost::json;

using Types = std::set<std::string>;

constexpr int kMostReferences = 8;  // a schema may refer to itself
constexpr int kMostVisits = 1000;   // and to others many times at each level

json::value parsed(std::string_view text) {
  json::parse_options deep;
  deep.max_depth = 512;
  boost::system::error_code error;
  json::value value = json::parse({text.data(), text.size()}, error, {}, deep);
  return error ? json::value() : value;
}

const json::object& members_of(const json::value& value, std::string_view name) {
  static const json::object none;
  const json::value* const found = member(value, name);
  return found != nullptr && found->is_object() ? found->get_object() : none;
}

std::string one_of(const std::vector<std::string>& choices) {
  std::string text;
  for (const std::string& word : choices) text += (text.empty() ? "" : ", ") + printable_line(word);
  return text;
}

// ---- the schema of one argument

class Schema {
 public:
  explicit Schema(std::string_view text)
      : root_(parsed(text)), properties_(members_of(root_, "properties")) {}

  std::vector<std::string> keys() const {
    std::vector<std::string> names;
    for (const auto& property : properties_) names.emplace_back(property.key());
    return names;
  }
  const json::value* property(std::string_view key) const { return properties_.if_contains(key); }

  std::vector<std::string> required() const {
    std::vector<std::string> names;
    for (const json::value& name : list(root_, "required")) {
      if (name.is_string()) names.emplace_back(name.get_string());
    }
    return names;
  }

  /// Whether the schema lists all allowed keys. By the rules of JSON Schema the default is no.
  bool is_closed() const {
    const json::value* const more = member(root_, "additionalProperties");
    return more != nullptr && more->is_bool() && !more->get_bool();
  }
  bool is_open() const {
    const json::value* const more = member(root_, "additionalProperties");
    const bool says_more = more != nullptr && (more->is_object() || (more->is_bool() && more->get_bool()));
    return says_more || properties_.empty();
  }

  /// The JSON types that a value may have; empty = the schema does not restrict them.
  Types types_of(const json::value& property) const {
    Types types;
    int visits = kMostVisits;
    collect(property, types, 0, visits);
    return types;
  }

 private:
  void collect(const json::value& schema, Types& types, int depth, int& visits) const {
    if (depth > kMostReferences || visits-- <= 0) return;
    if (const json::value* const type = member(schema, "type")) {
      if (type->is_string()) types.emplace(type->get_string());
      for (const json::value& each : list(schema, "type")) {
        if (visits-- <= 0) return;
        if (each.is_string()) types.emplace(each.get_string());
      }
      return;
    }
    for (const char* const choice : {"anyOf", "oneOf", "allOf"}) {
      for (const json::value& each : list(schema, choice)) {
        if (visits <= 0) return;
        collect(each, types, depth + 1, visits);
      }
    }
    const json::value* const reference = member(schema, "$ref");
    if (reference == nullptr || !reference->is_string()) return;
    const std::string_view where = reference->get_string();
    if (!where.starts_with("#/")) return;
    boost::system::error_code error;
    const json::value* const found = root_.find_pointer({where.data() + 1, where.size() - 1}, error);
    if (!error && found != nullptr) collect(*found, types, depth + 1, visits);
  }

  json::value root_;
  const json::object& properties_;
};

// ---- one value

/// Makes a Result from a string, which is ambiguous otherwise: it could be the value or the error.
Result<std::string> good(std::string text) { return {boost::system::in_place_value, std::move(text)}; }

bool is_whole(std::string_view text) {
  return !text.empty() && text.find_first_not_of("-0123456789") == std::string_view::npos;
}

bool has_type(const json::value& value, std::string_view text, const std::string& type) {
  if (type == "integer") return value.is_number() && is_whole(text);
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_bool();
  if (type == "null") return value.is_null();
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  return type == "string" && value.is_string();
}

std::string with_article(const std::string& type) {
  return (type == "integer" || type == "object" || type == "array" ? "an " : "a ") + type;
}

std::string wanted(const Types& types) {
  std::string text;
  for (const std::string& type : types)
    text += (text.empty() ? "" : " or ") + printable_line(with_article(type));
  return text;
}

Result<std::string> raw_value(const std::string& key, std::string_view text) {
  const std::string fault = why_no_json(text);
  if (fault.empty()) return good(on_one_line(text));
  return Error{"the value of '" + key + "' is not valid JSON: " + fault + "; use " + key +
               "=TEXT for a string"};
}

Result<std::string> choice(const std::string& key, const json::value& property, const std::string& text) {
  std::vector<std::string> known;
  for (const json::value& each : list(property, "enum")) {
    if (each.is_string()) known.emplace_back(each.get_string());
  }
  if (known.empty() || std::find(known.begin(), known.end(), text) != known.end())
    return good(wire::quoted(text));
  const std::string close = nearest_word(text, known);
  return Error{"invalid value '" + text + "' for '" + key +
               "': " + (close.empty() ? "" : "did you mean " + printable_line(close) + "? ") + "use one of " +
               one_of(known)};
}

Result<std::string> typed_value(const Schema& schema, const std::string& key, const std::string& text) {
  const json::value* const property = schema.property(key);
  if (property == nullptr) return good(wire::quoted(text));
  const Types types = schema.types_of(*property);
  if (types.empty() || types.contains("string")) return choice(key, *property, text);
  const bool valid = why_no_json(text).empty();
  const json::value value = valid ? parsed(text) : json::value();
  const std::string bare = valid ? on_one_line(text) : "";
  const bool fits = valid && std::any_of(types.begin(), types.end(), [&](const std::string& type) {
                      return has_type(value, bare, type);
                    });
  if (fits) return good(bare);
  return Error{"the argument '" + key + "' must be " + wanted(types) + ", not '" + text + "'"};
}

Error unknown_key(const std::string& key, const std::vector<std::string>& known) {
  const std::string close = nearest_word(key, known);
  return Error{"the tool has no argument '" + key +
               "': " + (close.empty() ? "" : "did you mean " + printable_line(close) + "? ") +
               (known.empty() ? "it takes no arguments" : "it takes " + one_of(known))};
}

}  // namespace

Result<std::string> arguments_from_pairs(std::string_view schema_text, const std::vector<std::string>& args) {
  const Schema schema(schema_text);
  std::set<std::string> given;
  std::string object = "{";
  for (const std::string& word : args) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0 || word.starts_with(":=")) {
      return Error{"'" + word + "' is not an argument: use key=value or key:=JSON"};
    }
    const bool raw = word[equals - 1] == ':';
    const std::string key = word.substr(0, equals - (raw ? 1 : 0));
    const std::string text = word.substr(equals + 1);
    if (!given.insert(key).second) return Error{"the argument '" + key + "' is given twice"};
    if (schema.property(key) == nullptr && !schema.is_open()) return unknown_key(key, schema.keys());
    const Result<std::string> value = raw ? raw_value(key, text) : typed_value(schema, key, text);
    if (!value) return value.error();
    object += (object.size() == 1 ? "" : ",") + wire::quoted(key) + ":" + *value;
  }
  return good(object + "}");
}

Result<std::string> arguments_from_json(std::string_view text, const std::string& where) {
  const std::string fault = why_no_json(text);
  if (!fault.empty()) return Error{"the arguments " + where + " are not valid JSON: " + fault};
  std::string line = on_one_line(text);
  if (!line.starts_with('{')) return Error{"the arguments " + where + " are not a JSON object"};
  return good(std::move(line));
}

Result<void> check_arguments(std::string_view schema_text, std::string_view arguments) {
  const Schema schema(schema_text);
  const json::value value = parsed(arguments);
  const json::object* const given = value.if_object();
  if (given == nullptr) return Error{"the arguments are not a JSON object"};
  std::vector<std::string> missing;
  for (const std::string& name : schema.required()) {
    if (!given->contains(name)) missing.push_back(name);
  }
  if (!missing.empty()) {
    return Error{std::string(missing.size() == 1 ? "the argument " : "the arguments ") + one_of(missing) +
                 (missing.size() == 1 ? " is" : " are") + " missing"};
  }
  for (const auto& each : *given) {
    const std::string key(each.key());
    if (schema.is_closed() && schema.property(key) == nullptr) return unknown_key(key, schema.keys());
  }
  return {};
}

}  // namespace corral::cli
