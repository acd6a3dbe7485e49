// Mcp-Param-*: arguments of a tool that its schema requires in headers as well.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <vector>

#include "http/text.h"
#include "transport/header_values.h"
#include "transport/http_rules.h"
#include "wire/json_text.h"

namespace corral::transport {
namespace {

constexpr std::string_view kHeaderMark = "x-mcp-header";
constexpr std::size_t kDeepestMark = 32;  // nested properties; no real arguments are deeper

/// A parameter that must be repeated in a header.
struct MirroredParam {
  std::string header;     // without "Mcp-Param-"
  std::string_view said;  // in the arguments, JSON; empty if it is missing
};

/// A decimal number as its digits without redundant zeros, so that equal numbers have equal texts.
struct PlainDecimal {
  bool negative = false;
  std::string digits;  // empty = zero
  std::int64_t exponent = 0;

  bool operator==(const PlainDecimal&) const = default;
};

bool take_digits(std::string_view& text, std::string& digits) {
  const std::size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
  digits.append(text.substr(0, count));
  text.remove_prefix(count);
  return count > 0;
}

/// Parses the text of a JSON number; empty if it is not one.
std::optional<PlainDecimal> plain_decimal(std::string_view text) {
  PlainDecimal number;
  if (text.starts_with('-')) {
    number.negative = true;
    text.remove_prefix(1);
  }
  if (text.starts_with('0') && text.size() > 1 && text[1] >= '0' && text[1] <= '9') return std::nullopt;
  if (!take_digits(text, number.digits)) return std::nullopt;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    const std::size_t before = number.digits.size();
    if (!take_digits(text, number.digits)) return std::nullopt;
    number.exponent = -static_cast<std::int64_t>(number.digits.size() - before);
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+')) text.remove_prefix(1);
    std::int32_t power = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), power);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
    number.exponent += power;
    text = {};
  }
  if (!text.empty()) return std::nullopt;
  number.digits.erase(0, std::min(number.digits.find_first_not_of('0'), number.digits.size()));
  while (number.digits.ends_with('0')) {
    number.digits.pop_back();
    ++number.exponent;
  }
  return number.digits.empty() ? PlainDecimal{} : number;
}

/// Whether a header and an argument have the same value; the type of the argument decides how they are
/// compared.
bool says_the_same(const std::string& header, std::string_view argument) {
  if (argument.starts_with('"')) return wire::string_value(argument) == header;
  if (argument == "true" || argument == "false") return header == argument;
  const auto number = plain_decimal(argument);
  return number && plain_decimal(header) == number;
}

bool may_be_mirrored(std::string_view schema) {
  const auto type = wire::string_member(schema, "type");
  return type == "string" || type == "integer" || type == "boolean";
}

/// Collects all marks that can be reached through `properties` alone. False if one of them breaks the rules:
/// clients must ignore such a tool, so there is nothing to check.
bool collect_marks(std::string_view schema, std::string_view arguments, std::size_t depth,
                   std::vector<MirroredParam>& found) {
  const std::string_view properties = wire::member_text(schema, "properties");
  if (!wire::is_object(properties) || depth == kDeepestMark) return true;
  bool proper = true;
  wire::each_member(properties, [&](std::string_view key, wire::Member member) {
    const std::string_view property = member.value.in(properties);
    // The arguments are only searched for a mark, because they may be long and the properties many.
    if (property.find(kHeaderMark) == std::string_view::npos) return;
    const std::string_view said = wire::member_text(arguments, key);
    if (wire::member(property, kHeaderMark).present()) {
      const auto name = wire::string_member(property, kHeaderMark);
      const bool taken = name && std::any_of(found.begin(), found.end(), [&](const MirroredParam& param) {
                           return http::same_word(param.header, *name);
                         });
      proper = proper && name && is_token(*name) && !taken && may_be_mirrored(property);
      if (proper) found.push_back({*name, said == "null" ? std::string_view() : said});
    }
    proper = proper && collect_marks(property, said, depth + 1, found);
  });
  return proper;
}

/// Empty if the tool does not exist.
std::string_view input_schema(std::string_view tools, std::string_view name) {
  const std::string_view list = wire::member_text(tools, "tools");
  const auto elements = wire::array_elements(list, wire::kMostElements);
  if (!elements) return {};
  for (const wire::Span& element : *elements) {
    const std::string_view tool = element.in(list);
    if (wire::string_member(tool, "name") == name) return wire::member_text(tool, "inputSchema");
  }
  return {};
}

std::optional<HttpRefusal> check_param(const http::Request& request, const MirroredParam& param) {
  const std::string header = "Mcp-Param-" + param.header;
  const auto mismatch = [&header](const char* what) {
    constexpr int kHeaderMismatchCode = -32020;
    return HttpRefusal{
        400, kHeaderMismatchCode, "Header mismatch: the " + header + " header " + what, {}, {}};
  };
  const std::size_t count = request.count(header);
  const bool plain = !param.said.starts_with('{') && !param.said.starts_with('[');
  if (count == 0) {
    // The server has to refuse an argument that no header can repeat.
    if (param.said.empty() || !plain) return std::nullopt;
    return mismatch("is missing; it must repeat an argument of the tool, see x-mcp-header in tools/list");
  }
  if (count > 1) return mismatch("appears more than once");
  const auto value = mirrored_value(request.header(header));
  if (!value) return mismatch("is neither plain ASCII nor a valid =?base64?…?=");
  if (param.said.empty()) return mismatch("repeats an argument that the body does not have");
  if (!plain || !says_the_same(*value, param.said)) {
    return mismatch("does not match the argument in the body; send the same value in both");
  }
  return std::nullopt;
}

}  // namespace

std::optional<HttpRefusal> check_param_headers(const http::Request& request, const Posted& posted,
                                               std::string_view tools) {
  // Most servers have no marks, and a long list is not parsed for that. A mark that is written with escapes
  // is ignored.
  if (tools.find(kHeaderMark) == std::string_view::npos) return std::nullopt;
  if (posted.message.method() != "tools/call") return std::nullopt;
  const std::string_view params = posted.message.params();
  const auto name = wire::string_member(params, "name");
  if (!name) return std::nullopt;
  std::vector<MirroredParam> found;
  const std::string_view arguments = wire::member_text(params, "arguments");
  if (!collect_marks(input_schema(tools, *name), arguments, 0, found)) return std::nullopt;
  for (const MirroredParam& param : found) {
    if (auto refusal = check_param(request, param)) return refusal;
  }
  return std::nullopt;
}

}  // namespace corral::transport
