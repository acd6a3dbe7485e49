// Reads members out of JSON text, as spans of it. It is not corral's own reader on purpose: a fake that
// shared corral's mistakes could not show them. The text is valid JSON, or the answer is empty.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace corral::fakes {

/// The text of a value inside nested objects; empty if there is none.
std::string_view value_at(std::string_view object, std::initializer_list<std::string_view> path);

/// The same for a string, without its quotes; escapes stay as they are, so it can be put into quotes again.
std::string_view text_at(std::string_view object, std::initializer_list<std::string_view> path);

/// Names (without quotes) and values of an object, in order.
std::vector<std::pair<std::string_view, std::string_view>> members(std::string_view object);

/// The values of an array.
std::vector<std::string_view> elements(std::string_view array);

inline bool is_object(std::string_view value) { return value.starts_with('{'); }

std::string quoted(std::string_view text);

}  // namespace corral::fakes
