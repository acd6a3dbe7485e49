// Building blocks for the JSON texts of this folder. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "observe/snapshot.h"
#include "wire/json_text.h"

namespace corral::observe {

/// "" becomes null.
inline std::string text_or_null(std::string_view text) { return text.empty() ? "null" : wire::quoted(text); }

inline const char* flag_json(bool flag) { return flag ? "true" : "false"; }

template <class T>
std::string number_or_null(const std::optional<T>& number) {
  return number ? std::to_string(*number) : "null";
}

/// At most three decimal places, independent of the locale; 0 for NaN and infinities.
std::string decimal_json(double number);

/// Makes "[a,b]" from pieces that are already JSON.
std::string array_json(const std::vector<std::string>& pieces);
std::string strings_json(const std::vector<std::string>& texts);

/// The objects of docs/api.md.
std::string server_json(const ServerView& server);
std::string instance_json(const InstanceView& instance);
std::string session_json(const SessionView& session);

}  // namespace corral::observe
