// What the JSON texts of this folder are made of. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "observe/snapshot.h"
#include "wire/json_text.h"

namespace corral::observe {

/// "" becomes null: there is nothing to say.
inline std::string text_or_null(std::string_view text) { return text.empty() ? "null" : wire::quoted(text); }

inline const char* flag_json(bool flag) { return flag ? "true" : "false"; }

template <class T>
std::string number_or_null(const std::optional<T>& number) {
  return number ? std::to_string(*number) : "null";
}

/// Three digits behind the point at most, whatever the locale says; what is no number is 0.
std::string decimal_json(double number);

/// "[a,b]" of pieces that are JSON already.
std::string array_json(const std::vector<std::string>& pieces);
std::string strings_json(const std::vector<std::string>& texts);

std::string server_json(const ServerView& server);
std::string instance_json(const InstanceView& instance);
std::string session_json(const SessionView& session);

}  // namespace corral::observe
