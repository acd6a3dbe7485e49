// Reads a status back into the values that it was written from. The bounds keep a hostile answer from
// reaching a terminal or overflowing a sum.
#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "observe/status_schema.h"

namespace corral::observe {
namespace {

namespace json = boost::json;

constexpr std::size_t kLongestStatusText = 4096;
constexpr std::uint64_t kLongestTime = 1000ULL * 3600 * 24 * 366 * 1000;  // milliseconds: a thousand years
constexpr double kMostCores = 100'000;

/// Null if there is no such member.
const json::value& member_in(const json::value& object, std::string_view name) {
  static const json::value nothing;
  const json::object* const members = object.if_object();
  const json::value* const found = members == nullptr ? nullptr : members->if_contains(name);
  return found == nullptr ? nothing : *found;
}

std::optional<std::uint64_t> natural_in(const json::value& value) {
  if (!value.is_number()) return std::nullopt;
  boost::system::error_code error;
  const auto number = value.to_number<std::uint64_t>(error);
  return error ? std::nullopt : std::optional(number);
}

std::optional<double> decimal_in(const json::value& value) {
  if (!value.is_number()) return std::nullopt;
  const auto number = value.to_number<double>();
  if (!std::isfinite(number) || number < 0) return std::nullopt;
  return std::min(number, kMostCores);
}

template <class T>
std::optional<T> value_of(const json::value& value);

/// Sets the members that it is called with (status_schema.h).
class StatusReader {
 public:
  explicit StatusReader(const json::value& object) : object_(object) {}

  template <class T>
  void operator()(std::string_view name, T& member) const {
    const json::value& found = member_in(object_, name);
    if constexpr (kIsOptional<T>) {
      member = found.is_null() ? std::nullopt : value_of<typename T::value_type>(found);
    } else {
      member = value_of<T>(found).value_or(T{});
    }
  }
  void or_null(std::string_view name, auto& member) const { (*this)(name, member); }
  void unless_empty(std::string_view name, auto& member) const { (*this)(name, member); }
  /// An unknown word counts as yes: the daemon did not say no.
  void either(std::string_view name, bool& flag, std::string_view /*yes*/, std::string_view no) const {
    const json::value& found = member_in(object_, name);
    flag = !found.is_string() || found.get_string() != no;
  }

 private:
  const json::value& object_;
};

/// Nothing if it has another type. What should be an object and is none has no members; so a list keeps its
/// length.
template <class T>
std::optional<T> value_of(const json::value& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    const json::string* const text = value.if_string();
    if (text == nullptr) return std::nullopt;
    return printable(std::string(text->data(), std::min(text->size(), kLongestStatusText)));
  } else if constexpr (std::is_same_v<T, bool>) {
    return value.is_bool() ? std::optional(value.get_bool()) : std::nullopt;
  } else if constexpr (std::is_integral_v<T>) {
    const std::optional<std::uint64_t> number = natural_in(value);
    return number && std::in_range<T>(*number) ? std::optional(static_cast<T>(*number)) : std::nullopt;
  } else if constexpr (std::is_same_v<T, double>) {
    return decimal_in(value);
  } else if constexpr (std::is_same_v<T, milliseconds>) {
    const std::optional<std::uint64_t> number = natural_in(value);
    return number ? std::optional(milliseconds(std::min(*number, kLongestTime))) : std::nullopt;
  } else if constexpr (kIsList<T>) {
    const json::array* const list = value.if_array();
    if (list == nullptr) return std::nullopt;
    T items;
    for (const json::value& item : *list) {
      items.push_back(value_of<typename T::value_type>(item).value_or(typename T::value_type{}));
    }
    return items;
  } else if constexpr (kIsMap<T>) {
    const json::object* const object = value.if_object();
    if (object == nullptr) return std::nullopt;
    T texts;
    for (const auto& [name, text] : *object) {
      if (const auto found = value_of<std::string>(text)) {
        texts.emplace(printable(std::string(name)), *found);
      }
    }
    return texts;
  } else {
    T view;
    const StatusReader reader(value);
    fields(reader, view);
    return view;
  }
}

}  // namespace

Snapshot read_status(const json::value& status) { return *value_of<Snapshot>(status); }

std::vector<SessionObjectView> read_session_objects(const json::value& result) {
  using Objects = std::vector<SessionObjectView>;
  return value_of<Objects>(member_in(result, "sessions")).value_or(Objects{});
}

}  // namespace corral::observe
