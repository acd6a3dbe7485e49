#include "cli/commands/bundle_mask.h"

#include <algorithm>
#include <boost/json.hpp>
#include <optional>

#include "base/secrets.h"
#include "base/text.h"
#include "cli/screen/json_layout.h"

namespace corral::cli {
namespace {

namespace json = boost::json;

constexpr std::string_view kHidden = "***";

/// Ids of instances and sessions are long random words like keys, and are needed to put events together. Only
/// their form is accepted, because others choose the names of members.
bool is_id(std::string_view key, std::string_view value) {
  constexpr std::size_t kLongestId = 36;
  const bool named = key == "id" || key == "instance" || key == "session" || key == "object";
  return named && value.size() <= kLongestId &&
         value.find_first_not_of("0123456789abcdef-") == std::string_view::npos;
}

bool only_names_a_variable(std::string_view value) {
  return value.starts_with("${") && value.find('}') == value.size() - 1 &&
         value.find(":-") == std::string_view::npos;
}

std::optional<json::value> parsed(std::string_view text) {
  boost::system::error_code error;
  json::value value = json::parse(text, error);
  if (error || (!value.is_object() && !value.is_array())) return std::nullopt;
  return value;
}

}  // namespace

BundleMask::BundleMask(std::vector<std::string> homes) : homes_(std::move(homes)) {
  // "/", the home of some services, is in every path.
  std::erase_if(homes_, [](const std::string& home) { return home.size() < 2 || home.front() != '/'; });
  for (std::string& home : homes_) {
    while (home.size() > 1 && home.back() == '/') home.pop_back();
  }
}

std::string BundleMask::one(std::string_view text) const {
  std::string shown(text);
  for (const std::string& home : homes_) {
    for (std::size_t at = 0; (at = shown.find(home, at)) != std::string::npos; ++at) {
      const std::size_t end = at + home.size();
      const bool whole =
          end == shown.size() || std::string_view("/'\"`:,;) \n").find(shown[end]) != std::string_view::npos;
      if (whole) shown.replace(at, home.size(), "~");
    }
  }
  return hide_secrets({shown}).front();
}

std::string BundleMask::line(std::string_view text) const {
  if (!text.starts_with('{')) return one(text);
  std::optional<json::value> value = parsed(text);
  if (!value) return one(text);
  apply(*value);
  return json::serialize(*value);
}

std::string BundleMask::lines(std::string_view text) const {
  std::string shown;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    shown += line(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return shown;
}

std::string BundleMask::json(std::string_view text) const {
  std::optional<json::value> value = parsed(text);
  if (!value) return lines(text);
  apply(*value);
  return laid_out(json::serialize(*value)) + "\n";
}

std::string BundleMask::configuration(std::string_view text) const {
  std::optional<json::value> value = parsed(text);
  if (!value) return lines(text);
  boost::system::error_code none;
  json::value* const servers = value->find_pointer("/servers", none);
  if (servers != nullptr && servers->is_array()) {
    for (json::value& server : servers->get_array()) {
      json::value* const environment = server.is_object() ? server.get_object().if_contains("env") : nullptr;
      if (environment == nullptr || !environment->is_object()) continue;
      for (auto& [name, content] : environment->get_object()) {
        if (!content.is_string() || !only_names_a_variable(content.get_string())) content = kHidden;
      }
    }
  }
  return json(json::serialize(*value));
}

void BundleMask::apply(json::value& value) const {
  if (value.is_string()) {
    value = one(value.get_string());
  } else if (value.is_array()) {
    for (json::value& element : value.get_array()) apply(element);
  } else if (value.is_object()) {
    for (auto& [key, content] : value.get_object()) {
      const bool is_text = content.is_string();
      if (is_text && is_id(key, content.get_string())) continue;
      if (is_text && names_secret(key) && !only_names_a_variable(content.get_string())) {
        content = kHidden;
      } else {
        apply(content);
      }
    }
  }
}

}  // namespace corral::cli
