// Finds the members of a JSON object, as spans of its text. Pure.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/span.h"

namespace corral::wire {

struct Member {
  Span key;  // with quotes
  Span value;
};

/// Calls `each` for every member of `object` (valid JSON), in order, with the decoded key. Returns false if
/// the text is not an object; then some members may have been visited.
bool each_member(std::string_view object, const std::function<void(std::string_view key, Member)>& each);

/// Whether a JSON value, without white space around it, is an object.
inline bool is_object(std::string_view value) { return !value.empty() && value.front() == '{'; }

/// The spans to remove from `object`, in order and not overlapping, so that valid JSON without those members
/// is left. `unwanted` is called for each occurrence of a key.
std::vector<Span> cuts(std::string_view object,
                       const std::function<bool(std::string_view key, Member)>& unwanted);

/// An object with only the members that `keep` accepts, each as it is written.
std::string kept_members(std::string_view object, const std::function<bool(std::string_view key)>& keep);

/// `json` without the white space between its tokens.
std::string without_space(std::string_view json);

}  // namespace corral::wire
