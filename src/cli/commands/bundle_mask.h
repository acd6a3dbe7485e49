// Takes out of the text of a support archive what nobody else should read: what may be a secret, and the
// names of home directories. It hides too much rather than too little, but no rule knows every secret: a
// person reads the archive before it is sent. Pure.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace corral::cli {

class BundleMask {
 public:
  /// Each of these directories becomes "~".
  explicit BundleMask(std::vector<std::string> homes);

  /// One line of a log, or any other text; printable. A line that is JSON stays JSON.
  std::string line(std::string_view text) const;
  /// Every line of a text.
  std::string lines(std::string_view text) const;
  /// JSON, indented for people: every string in it, names of members too, and the whole value of a member
  /// whose name announces a secret. Anything else than JSON is treated as text.
  std::string json(std::string_view text) const;
  /// The configuration as `config check --json` shows it: also every value of a variable, unless it only
  /// names another variable.
  std::string configuration(std::string_view text) const;

 private:
  std::string without_homes(std::string_view text) const;
  std::string one(std::string_view text) const;
  void apply(boost::json::value& value) const;
  void apply(boost::json::array& array) const;

  std::vector<std::string> homes_;
};

}  // namespace corral::cli
