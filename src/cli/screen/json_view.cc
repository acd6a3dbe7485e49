#include "cli/screen/json_view.h"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "base/text.h"
#include "base/units.h"

namespace corral::cli {

namespace json = boost::json;

namespace {

bool can_be_shown(const json::value* value) {
  if (value == nullptr) return false;
  return value->is_string() ? !value->get_string().empty() : value->is_number() || value->is_bool();
}

std::string text_of(const json::value* value) {
  if (!can_be_shown(value)) return "-";
  return value->is_string() ? printable(value->get_string()) : json::serialize(*value);
}

}  // namespace

const json::value* member(const json::value& value, std::string_view name) {
  const json::object* const object = value.if_object();
  return object == nullptr ? nullptr : object->if_contains(name);
}

std::string text(const json::value& value, std::string_view name) { return text_of(member(value, name)); }

bool has(const json::value& value, std::string_view name) { return can_be_shown(member(value, name)); }

std::string age(const json::value& value, std::string_view name) {
  const json::value* const number = member(value, name);
  if (number == nullptr || !number->is_number()) return "-";
  boost::system::error_code error;
  const auto count = number->to_number<std::int64_t>(error);
  return error ? "-" : show_age(std::chrono::milliseconds(count));
}

const json::array& list(const json::value& value, std::string_view name) {
  static const json::array none;
  const json::value* const found = member(value, name);
  return found != nullptr && found->is_array() ? found->get_array() : none;
}

std::string joined(const json::value& value, std::string_view name) {
  std::string shown;
  for (const json::value& word : list(value, name)) shown += (shown.empty() ? "" : ", ") + text_of(&word);
  return shown.empty() ? "-" : shown;
}

bool flag(const json::value& value, std::string_view name) {
  const json::value* const found = member(value, name);
  return found != nullptr && found->is_bool() && found->get_bool();
}

}  // namespace corral::cli
