#include <algorithm>
#include <boost/json.hpp>

#include "known/config_text.h"

namespace corral::known {
namespace {

namespace json = boost::json;

// No client nests deeper than a handful; every level costs stack when the tree is let go.
constexpr std::size_t kDeepest = 128;

std::string place_of(const std::string& text, std::size_t offset) {
  offset = std::min(offset, text.size());
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(offset);
  const auto lines = std::count(text.begin(), end, '\n');
  const std::size_t line_start = offset == 0 ? std::string::npos : text.rfind('\n', offset - 1);
  const std::size_t column = line_start == std::string::npos ? offset : offset - line_start - 1;
  return "line " + std::to_string(lines + 1) + ", column " + std::to_string(column + 1);
}

}  // namespace

ConfigText parse_json_config(const std::string& text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  const std::size_t begin = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  if (text.find_first_not_of(" \t\r\n", begin) == std::string::npos) return {json::object(), {}};

  json::parse_options options;
  options.max_depth = kDeepest;
  options.allow_comments = true;
  options.allow_trailing_commas = true;
  options.allow_invalid_utf8 =
      true;  // a broken name is made printable later; it need not hide the other servers
  json::stream_parser parser({}, options);
  json::error_code error;
  const std::size_t read = parser.write_some(text.data() + begin, text.size() - begin, error);
  if (!error && read < text.size() - begin) error = json::error::extra_data;
  if (!error) parser.finish(error);
  if (error) return {nullptr, place_of(text, begin + read) + ": " + error.message()};
  return {parser.release(), {}};
}

ConfigText parse_config(const std::string& text, ConfigFormat format) {
  return format == ConfigFormat::Json ? parse_json_config(text) : parse_toml_config(text);
}

}  // namespace corral::known
