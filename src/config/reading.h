// The state of one call of parse(): the first error and the warnings. Converts the fields of the file to
// values, and reports the place of those that are invalid.
#pragma once

#include <boost/json/value.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/text_places.h"

namespace corral::config {

struct Configuration;

inline constexpr std::uint32_t kMostProcesses = 4'194'304;  // the largest number that Linux allows

/// The error of a JSON or TOML parser in the form of every error of a configuration: "line 3, column 14: …"
/// becomes "FILE:3:14: …. Hint."
Error parse_error(const std::string& file, const std::string& error);

/// A member of an object, with the information that a message about it needs.
struct Field {
  const boost::json::value& value;
  std::string key;
  std::string owner;  // the object that it belongs to, for messages: "server 'files'"
  MemberPlace place;

  /// For messages: "timeout" of server 'files'
  std::string naming() const;
};

class Reading {
 public:
  /// `machine` is below this file, and must outlive this object; null = this is the machine's file itself.
  Reading(std::string_view text, std::string file, const Configuration* machine)
      : text_(text), lines_(text), file_(std::move(file)), machine_(machine) {}

  bool failed() const { return error_.has_value(); }
  const std::optional<Error>& error() const { return error_; }
  std::vector<std::string> take_warnings();
  std::vector<std::string> take_overruled() { return std::move(overruled_); }
  const Configuration* machine() const { return machine_; }
  const std::string& file() const { return file_; }
  int line_of(std::size_t offset) { return lines_.line_of(offset); }

  /// `what` and `hint` are sentences without a full stop; `hint` says what to do. Only the first error is
  /// kept.
  void fail(std::size_t offset, const std::string& what, const std::string& hint);
  void warn(std::size_t offset, const std::string& what, const std::string& hint);
  /// In the machine's file, a key that may have been meant for the list of locks is an error.
  void warn_unknown(const Field& field, const std::vector<std::string>& known);

  /// Whether the machine's file locks the key, under which a lock names the field. The field must then not be
  /// used, and the user is told.
  bool is_locked(const Field& field, std::string_view key);

  /// Visits the members in the order of the file until an error occurs. A duplicate key is an error.
  void each_member(const boost::json::value& object, std::size_t offset, const std::string& owner,
                   const std::function<void(const Field&)>& visit);

  // The value of a field. If it is invalid, these functions call fail() and return nothing.
  std::optional<bool> flag(const Field& field);
  /// The offset of an element of a list, counted from 0.
  std::size_t element_of(const Field& field, std::size_t index) const;
  /// A string for a command line, an environment or a path: not empty, and without NUL.
  std::optional<std::string> text(const Field& field);
  std::optional<std::vector<std::string>> texts(const Field& field);
  /// "30s", or a number of milliseconds.
  std::optional<std::chrono::milliseconds> duration(const Field& field);
  /// "512M", or a number of bytes.
  std::optional<std::uint64_t> size(const Field& field);
  std::optional<std::uint32_t> whole_number(const Field& field, std::uint32_t least,
                                            std::uint32_t most = kMostProcesses);
  /// "0.5", "150%", or a number of cores.
  std::optional<std::uint32_t> cores(const Field& field);
  /// Numbers separated by dots, such as "1.2.3". Other strings cannot be compared with a version.
  std::optional<std::string> version(const Field& field);
  /// The index of the word that is the value.
  std::optional<std::size_t> choice(const Field& field, std::span<const std::string_view> words);
  /// Whether `value`, the field itself or an element of it, is a string without NUL; calls fail() if not.
  bool check_text(const Field& field, const boost::json::value& value, std::size_t offset);

 private:
  std::string_view text_;
  LineCounter lines_;
  std::string file_;
  const Configuration* machine_;
  std::optional<Error> error_;
  std::vector<std::string> overruled_;
  std::vector<std::string> warnings_;
  std::size_t more_warnings_ = 0;
};

}  // namespace corral::config
