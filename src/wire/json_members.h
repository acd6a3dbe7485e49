// The members of a JSON object, as pieces of its text.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/span.h"

namespace corral::wire {

struct Member {
  Span key;  // with its quotes
  Span value;
};

/// Calls `each` with every member of `object` (valid JSON), in order, and what its key says. False if the
/// text is no object; then some may have been seen.
bool each_member(std::string_view object, const std::function<void(std::string_view key, Member)>& each);

/// Whether a JSON value, without white space around it, is an object.
inline bool is_object(std::string_view value) { return !value.empty() && value.front() == '{'; }

/// The pieces of `object` to leave out, in order and not overlapping, such that valid JSON without those
/// members is left. A key that stands there twice is asked about twice.
std::vector<Span> cuts(std::string_view object,
                       const std::function<bool(std::string_view key, Member)>& unwanted);

/// An object of those members that `keep` wants, each as it is written.
std::string kept_members(std::string_view object, const std::function<bool(std::string_view key)>& keep);

/// `json` without the white space that stands between its parts.
std::string without_space(std::string_view json);

}  // namespace corral::wire
