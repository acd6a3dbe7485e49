#include "cli/commands/bundle_mask.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cctype>
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

/// Hides everything under a name that announces a secret.
void hide(json::value& value) {
  if (value.is_array()) {
    for (json::value& element : value.get_array()) hide(element);
  } else if (value.is_object()) {
    for (auto& [key, content] : value.get_object()) hide(content);
  } else if (value.is_number() || (value.is_string() && !only_names_a_variable(value.get_string()))) {
    value = kHidden;
  }
}

/// Whether a path that ends before this text ends there: the text does not continue its last name.
bool ends_name(std::string_view rest) {
  const auto is_of_name = [&rest](std::size_t at) {
    const auto letter = static_cast<unsigned char>(at < rest.size() ? rest[at] : ' ');
    return letter >= 0x80 || std::isalnum(letter) != 0 || letter == '_' || letter == '-';
  };
  return !is_of_name(0) && !(rest.starts_with('.') && is_of_name(1));
}

std::optional<json::value> parsed_json(std::string_view text) {
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

std::string BundleMask::without_homes(std::string_view text) const {
  std::string shown(text);
  for (const std::string& home : homes_) {
    for (std::size_t at = 0; (at = shown.find(home, at)) != std::string::npos; ++at) {
      if (ends_name(std::string_view(shown).substr(at + home.size()))) shown.replace(at, home.size(), "~");
    }
  }
  return shown;
}

std::string BundleMask::one(std::string_view text) const {
  return hide_secrets({without_homes(text)}).front();
}

std::string BundleMask::line(std::string_view text) const {
  if (!text.starts_with('{')) return one(text);
  std::optional<json::value> value = parsed_json(text);
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
  std::optional<json::value> value = parsed_json(text);
  if (!value) return lines(text);
  apply(*value);
  return laid_out(json::serialize(*value)) + "\n";
}

std::string BundleMask::configuration(std::string_view text) const {
  std::optional<json::value> value = parsed_json(text);
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
    apply(value.get_array());
  } else if (value.is_object()) {
    json::object shown;
    for (auto& [key, content] : value.get_object()) {
      if (names_secret(key)) hide(content);
      if (!content.is_string() || !is_id(key, content.get_string())) apply(content);
      // A server that logs JSON chooses the names, too.
      shown.emplace(one(key), std::move(content));
    }
    value = std::move(shown);
  }
}

void BundleMask::apply(json::array& array) const {
  const auto is_text = [](const json::value& element) { return element.is_string(); };
  if (!std::all_of(array.begin(), array.end(), is_text)) {
    for (json::value& element : array) apply(element);
    return;
  }
  // Like a command: one word may announce the next.
  std::vector<std::string> words;
  for (const json::value& element : array) words.push_back(without_homes(element.get_string()));
  words = hide_secrets(words);
  for (std::size_t i = 0; i < words.size(); ++i) array[i] = words[i];
}

}  // namespace corral::cli
