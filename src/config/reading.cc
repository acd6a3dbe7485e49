#include "config/reading.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>
#include <set>

#include "base/text.h"
#include "base/units.h"
#include "base/version_order.h"
#include "base/words.h"
#include "config/configuration.h"

namespace corral::config {
namespace {

namespace json = boost::json;

// The complete settings file of a client may have hundreds of keys that corral does not know.
constexpr std::size_t kMostWarnings = 50;
constexpr std::size_t kLongestShown = 60;

/// A key of the file for a message, printable and short. Never used for values, which may be secret.
std::string shown(const std::string& word) {
  return printable(word.size() > kLongestShown ? word.substr(0, kLongestShown) + "…" : word);
}

/// A number without an exponent, which the parsers of units do not accept.
std::string plain_number(const json::value& value) {
  if (value.is_int64()) return std::to_string(value.get_int64());
  if (value.is_uint64()) return std::to_string(value.get_uint64());
  char text[400];  // the largest double has 309 digits
  snprintf(text, sizeof text, "%.6f", value.get_double());
  return text;
}

}  // namespace

Error parse_error(const std::string& file, const std::string& error) {
  unsigned long line = 0;
  unsigned long column = 0;
  int read = 0;
  if (sscanf(error.c_str(), "line %lu, column %lu: %n", &line, &column, &read) == 2 && read > 0) {
    return Error{file + ":" + std::to_string(line) + ":" + std::to_string(column) + ": " +
                 error.substr(static_cast<std::size_t>(read)) +
                 ". Look for a missing comma, quote or brace just before this place."};
  }
  return Error{file + ":1:1: " + error + ". Correct the file."};
}

std::string Field::naming() const { return "\"" + shown(key) + "\" of " + owner; }

std::vector<std::string> Reading::take_warnings() {
  if (more_warnings_ > 0) {
    warnings_.push_back(file_ + ": " + std::to_string(more_warnings_) + " more warnings are not shown.");
  }
  return std::move(warnings_);
}

void Reading::fail(std::size_t offset, const std::string& what, const std::string& hint) {
  if (error_) return;
  error_ = Error{file_ + ":" + lines_.place_of(offset) + ": " + what + ". " + hint + "."};
}

void Reading::warn(std::size_t offset, const std::string& what, const std::string& hint) {
  if (warnings_.size() == kMostWarnings) {
    ++more_warnings_;
    return;
  }
  warnings_.push_back(file_ + ":" + lines_.place_of(offset) + ": " + what + ". " + hint + ".");
}

bool Reading::is_locked(const Field& field, std::string_view key) {
  const FilePlace* const lock = machine_ == nullptr ? nullptr : machine_->lock_of(key);
  if (lock == nullptr) return false;
  if (overruled_.size() < kMostWarnings) {
    overruled_.push_back(file_ + ":" + lines_.place_of(field.place.key) + ": " + field.naming() +
                         " has no effect, because " + lock->text() +
                         " locks it. Remove it, or ask the administrator of this machine.");
  }
  return true;
}

void Reading::warn_unknown(const Field& field, const std::vector<std::string>& known) {
  const std::string close = nearest_word(field.key, known);
  const bool may_mean_locks =
      close == "corral" || field.key.starts_with("lock") || !nearest_word(field.key, {"locked"}).empty();
  // Locks under another name, or in another place, would lock nothing.
  if (machine_ == nullptr && may_mean_locks) {
    return fail(field.place.key, field.naming() + " is unknown",
                R"(Locks are the list "locked" in the top-level "corral". Correct it, or remove it)");
  }
  warn(field.place.key, field.naming() + " is unknown and has no effect",
       close.empty() ? "Remove it if it was meant for corral"
                     : "Did you mean \"" + close + "\"?" + " Correct it");
}

void Reading::each_member(const json::value& object, std::size_t offset, const std::string& owner,
                          const std::function<void(const Field&)>& visit) {
  const json::object& members = object.get_object();
  std::set<std::string, std::less<>> seen;
  walk_object(text_, offset, [&](const std::string& key, const MemberPlace& place) {
    const json::value* value = members.if_contains(key);
    if (value == nullptr) {  // an error in corral: its two parsers disagree about this key
      fail(place.key, "corral cannot read this key", "Write it without escapes");
      return false;
    }
    const Field field{*value, key, owner, place};
    if (!seen.insert(key).second) {
      fail(place.key, field.naming() + " occurs twice", "Keep one of them");
    } else {
      visit(field);
    }
    return !failed();
  });
}

std::optional<bool> Reading::flag(const Field& field) {
  if (field.value.is_bool()) return field.value.get_bool();
  fail(field.place.value, field.naming() + " must be true or false", "Write it without quotes");
  return std::nullopt;
}

bool Reading::check_text(const Field& field, const json::value& value, std::size_t offset) {
  if (!value.is_string()) {
    const bool is_element = &value != &field.value;
    fail(offset, field.naming() + (is_element ? " must contain only strings" : " must be a string"),
         "Put the value in quotes");
    return false;
  }
  if (value.get_string().find('\0') != json::string::npos) {
    fail(offset, field.naming() + " contains a NUL character, which cannot be passed to a program",
         "Remove \\u0000");
    return false;
  }
  return true;
}

std::optional<std::string> Reading::text(const Field& field) {
  if (!field.value.is_string()) {
    fail(field.place.value, field.naming() + " must be a string", "Put the value in quotes");
    return std::nullopt;
  }
  if (field.value.get_string().empty()) {
    fail(field.place.value, field.naming() + " is empty", "Write a value or remove the key");
    return std::nullopt;
  }
  if (!check_text(field, field.value, field.place.value)) return std::nullopt;
  return std::string(field.value.get_string());
}

std::optional<std::vector<std::string>> Reading::texts(const Field& field) {
  if (!field.value.is_array()) {
    fail(field.place.value, field.naming() + " must be a list of strings",
         "Write \"" + shown(field.key) + R"(": ["one", "two"])");
    return std::nullopt;
  }
  std::vector<std::string> list;
  for (const json::value& element : field.value.get_array()) {
    if (!element.is_string() || element.get_string().find('\0') != json::string::npos) {
      check_text(field, element, find_element(text_, field.place.value, list.size()));
      return std::nullopt;
    }
    list.emplace_back(element.get_string());
  }
  return list;
}

std::size_t Reading::element_of(const Field& field, std::size_t index) const {
  return find_element(text_, field.place.value, index);
}

std::optional<std::chrono::milliseconds> Reading::duration(const Field& field) {
  const bool number = field.value.is_number();
  if (number || field.value.is_string()) {
    const std::string written =
        number ? plain_number(field.value) + "ms" : std::string(field.value.get_string());
    if (written == "0") return std::chrono::milliseconds(0);  // nothing needs no unit
    const Result<std::chrono::milliseconds> parsed = parse_duration(written);
    if (parsed) return *parsed;
  }
  fail(field.place.value, field.naming() + " is not a duration",
       R"(Write a string such as "500ms", "30s" or "2m", up to "24h", or a number of milliseconds)");
  return std::nullopt;
}

std::optional<std::uint64_t> Reading::size(const Field& field) {
  const bool number = field.value.is_number();
  if (number || field.value.is_string()) {
    const Result<std::uint64_t> parsed =
        parse_size(number ? plain_number(field.value) : std::string(field.value.get_string()));
    if (parsed) return *parsed;
  }
  fail(field.place.value, field.naming() + " is not a size", R"(Write a string such as "512M" or "2G")");
  return std::nullopt;
}

std::optional<std::uint32_t> Reading::whole_number(const Field& field, std::uint32_t least,
                                                   std::uint32_t most) {
  if (field.value.is_int64() && field.value.get_int64() >= least && field.value.get_int64() <= most) {
    return static_cast<std::uint32_t>(field.value.get_int64());
  }
  fail(field.place.value,
       field.naming() + " must be a whole number from " + std::to_string(least) + " to " +
           std::to_string(most),
       "Write a number such as " + std::to_string(std::min(most, 64U)) + ", without quotes");
  return std::nullopt;
}

std::optional<std::uint32_t> Reading::cores(const Field& field) {
  const bool number = field.value.is_number();
  if (number || field.value.is_string()) {
    const Result<std::uint32_t> parsed =
        parse_cores(number ? plain_number(field.value) : std::string(field.value.get_string()));
    if (parsed) return *parsed;
  }
  fail(field.place.value, field.naming() + " is not a number of cores", R"(Write 0.5, 2 or "150%")");
  return std::nullopt;
}

std::optional<std::string> Reading::version(const Field& field) {
  std::optional<std::string> version = text(field);
  if (!version || is_version(*version)) return version;
  fail(field.place.value, field.naming() + " is not a version",
       R"(Write numbers separated by dots: "1.2.0")");
  return std::nullopt;
}

std::optional<std::size_t> Reading::choice(const Field& field, std::span<const std::string_view> words) {
  std::string list;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (field.value.is_string() && std::string_view(field.value.get_string()) == words[i]) return i;
    list += (i == 0 ? "\"" : i + 1 == words.size() ? " or \"" : ", \"") + std::string(words[i]) + "\"";
  }
  fail(field.place.value, field.naming() + " has an unknown value", "Write " + list);
  return std::nullopt;
}

}  // namespace corral::config
