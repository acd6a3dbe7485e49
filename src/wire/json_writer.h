// Writes JSON member by member, so that nobody has to count commas and quotes: for the status, the API and
// other texts that are written now and then. Messages of MCP are composed by wire/json_text.h.
//
// Each call returns the writer, so an object is one expression. `json()` takes the text out; the writer must
// not be used after it. Keys are ours and need no escaping. No thread, no allocation beyond the text.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>

#include "wire/json_text.h"

namespace corral::wire {

/// At most three decimal places, independent of the locale; 0 for NaN and infinities.
std::string decimal_json(double number);

class JsonObject {
 public:
  JsonObject& text(std::string_view key, std::string_view value) { return raw(key, quoted(value)); }
  /// "" becomes null.
  JsonObject& text_or_null(std::string_view key, std::string_view value) {
    return raw(key, value.empty() ? "null" : quoted(value));
  }
  JsonObject& number(std::string_view key, std::integral auto value) {
    return raw(key, std::to_string(value));
  }
  template <class Number>
  JsonObject& number_or_null(std::string_view key, const std::optional<Number>& value) {
    return raw(key, value ? std::to_string(*value) : "null");
  }
  JsonObject& decimal(std::string_view key, double value) { return raw(key, decimal_json(value)); }
  JsonObject& flag(std::string_view key, bool value) { return raw(key, value ? "true" : "false"); }
  /// `json` is already JSON.
  JsonObject& raw(std::string_view key, std::string_view json);
  /// `written` comes from `bare`.
  JsonObject& members(std::string_view written);

  /// The bytes so far, without the closing brace.
  std::size_t size() const { return text_.size(); }
  /// The members without braces, for an object that begins elsewhere.
  std::string bare() const { return text_.empty() ? text_ : text_.substr(1); }

  std::string json() { return std::move(text_.append(text_.empty() ? "{}" : "}")); }

 private:
  std::string text_;
};

class JsonArray {
 public:
  JsonArray& text(std::string_view value) { return raw(quoted(value)); }
  JsonArray& number(std::integral auto value) { return raw(std::to_string(value)); }
  /// `json` is already JSON.
  JsonArray& raw(std::string_view json);

  std::string json() { return std::move(text_.append(text_.empty() ? "[]" : "]")); }

 private:
  std::string text_;
};

/// One element for each item, as `write` makes it.
template <class Items, class Write>
std::string array_of(const Items& items, Write write) {
  JsonArray array;
  for (const auto& item : items) array.raw(write(item));
  return array.json();
}

/// An array of strings.
template <class Texts>
std::string array_of_texts(const Texts& texts) {
  JsonArray array;
  for (const auto& text : texts) array.text(text);
  return array.json();
}

}  // namespace corral::wire
