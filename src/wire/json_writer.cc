#include "wire/json_writer.h"

#include <charconv>
#include <cmath>

namespace corral::wire {

std::string decimal_json(double number) {
  if (!std::isfinite(number)) return "0";
  char text[400];  // the largest double has 309 digits
  const auto end = std::to_chars(text, text + sizeof text, number, std::chars_format::fixed, 3);
  if (end.ec != std::errc()) return "0";
  std::string json(text, end.ptr);
  while (json.back() == '0') json.pop_back();
  if (json.back() == '.') json.pop_back();
  return json == "-0" ? "0" : json;
}

JsonObject& JsonObject::raw(std::string_view key, std::string_view json) {
  text_ += text_.empty() ? "{\"" : ",\"";
  text_.append(key).append("\":").append(json);
  return *this;
}

JsonObject& JsonObject::members(std::string_view written) {
  if (written.empty()) return *this;
  text_ += text_.empty() ? '{' : ',';
  text_.append(written);
  return *this;
}

JsonArray& JsonArray::raw(std::string_view json) {
  text_ += text_.empty() ? '[' : ',';
  text_.append(json);
  return *this;
}

}  // namespace corral::wire
