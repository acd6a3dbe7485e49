#include "observe/status_schema.h"
#include "wire/json_writer.h"

namespace corral::observe {
namespace {

using wire::JsonObject;

template <class T>
std::string json_of(const T& value);

/// Writes the members that it is called with (status_schema.h).
class StatusWriter {
 public:
  void operator()(std::string_view name, const auto& value) { object_.raw(name, json_of(value)); }
  void or_null(std::string_view name, const auto& value) {
    object_.raw(name, value.empty() ? "null" : json_of(value));
  }
  void unless_empty(std::string_view name, const auto& value) {
    if (!value.empty()) object_.raw(name, json_of(value));
  }
  void either(std::string_view name, bool value, std::string_view yes, std::string_view no) {
    object_.text(name, value ? yes : no);
  }

  std::string json() { return object_.json(); }

 private:
  JsonObject object_;
};

template <class T>
std::string json_of(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return wire::quoted(value);
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_integral_v<T>) {
    return std::to_string(value);
  } else if constexpr (std::is_same_v<T, double>) {
    return wire::decimal_json(value);
  } else if constexpr (std::is_same_v<T, milliseconds>) {
    return std::to_string(value.count());
  } else if constexpr (kIsOptional<T>) {
    return value ? json_of(*value) : "null";
  } else if constexpr (kIsList<T>) {
    return wire::array_of(value, [](const auto& item) { return json_of(item); });
  } else if constexpr (kIsMap<T>) {
    JsonObject object;
    for (const auto& [name, text] : value) object.text(name, text);
    return object.json();
  } else {
    StatusWriter writer;
    fields(writer, value);
    return writer.json();
  }
}

}  // namespace

std::string status_json(const Snapshot& snapshot) { return json_of(snapshot); }

std::string servers_json(const Snapshot& snapshot) {
  return JsonObject().raw("servers", json_of(snapshot.servers)).json();
}

std::string instances_json(const Snapshot& snapshot) {
  return JsonObject().raw("instances", json_of(snapshot.instances)).json();
}

std::string sessions_json(const Snapshot& snapshot) {
  return JsonObject().raw("sessions", json_of(snapshot.sessions)).json();
}

std::string session_objects_json(const std::vector<SessionObjectView>& objects) {
  return JsonObject().raw("sessions", json_of(objects)).json();
}

}  // namespace corral::observe
