#include "config/daemon_objects.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "base/ip_address.h"

namespace corral::config {
namespace {

constexpr std::uint32_t kLastPort = 65535;

void read_port(Reading& reading, const Field& field, Http& http) {
  const auto number = reading.whole_number(field, 0, kLastPort);
  if (number) http.port = static_cast<std::uint16_t>(*number);
}

void read_bind(Reading& reading, const Field& field, Http& http) {
  const std::optional<std::string> text = reading.text(field);
  if (!text) return;
  if (!parse_ip_address(*text)) {
    return reading.fail(field.place.value, field.naming() + " is not an IP address",
                        R"(Write "127.0.0.1", "::1" or another IP address; names are not looked up)");
  }
  http.bind = *text;
}

bool is_plain(const std::string& word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char letter) {
    return letter > ' ' && letter <= '~' && letter != '"' && letter != ',';
  });
}

/// A host name without the other parts of a URL.
bool is_host(const std::string& word) {
  const bool six = word.starts_with('[') && word.ends_with(']');
  return is_plain(word) && (six || word.find_first_of(":/@*?#") == std::string::npos);
}

/// scheme://host[:port], as a browser sends it.
bool is_origin(const std::string& word) {
  const std::size_t scheme = word.find("://");
  if (!is_plain(word) || scheme == 0 || scheme == std::string::npos) return false;
  const std::string rest = word.substr(scheme + 3);
  return !rest.empty() && rest.find_first_of("/@*?#") == std::string::npos;
}

void read_list(Reading& reading, const Field& field, bool (*fits)(const std::string&), const char* hint,
               std::vector<std::string>& target) {
  std::optional<std::vector<std::string>> list = reading.texts(field);
  if (!list) return;
  if (!std::all_of(list->begin(), list->end(), fits)) {
    return reading.fail(field.place.value, field.naming() + " contains an invalid value", hint);
  }
  target = std::move(*list);
}

void read_http_idle(Reading& reading, const Field& field, Http& http) {
  const auto time = reading.duration(field);
  if (!time) return;
  if (time->count() == 0) {
    return reading.fail(field.place.value, field.naming() + " is zero: no session would last",
                        R"(Write a time such as "30m")");
  }
  http.idle = *time;
}

void read_http_member(Reading& reading, const Field& field, Http& http) {
  if (!is_known(reading, field, kHttpKeys) || reading.is_locked(field, "http." + field.key)) return;
  if (field.key == "port") return read_port(reading, field, http);
  if (field.key == "bind") return read_bind(reading, field, http);
  if (field.key == "idle") return read_http_idle(reading, field, http);
  if (field.key == "hosts") {
    return read_list(reading, field, is_host, R"(Write names without port or scheme: ["dev.example"])",
                     http.hosts);
  }
  read_list(reading, field, is_origin,
            R"(Write each web page's scheme and host: ["https://app.example"]; "*" is not supported)",
            http.origins);
}

// One pass of the watchdog takes several milliseconds of CPU time.
constexpr std::chrono::seconds kShortestWatch{1};

void read_interval(Reading& reading, const Field& field, WatchRules& watch) {
  const auto time = reading.duration(field);
  if (!time) return;
  if (time->count() != 0 && *time < kShortestWatch) {
    return reading.fail(field.place.value, field.naming() + " is less than a second",
                        R"(Write a time such as "60s", or 0 to switch the watchdog off)");
  }
  watch.interval = *time;
}

void read_foreign(Reading& reading, const Field& field, WatchRules& watch) {
  constexpr std::array<std::string_view, 3> kWords = {"off", "report", "end"};
  constexpr std::array<Foreign, 3> kForeign = {Foreign::Off, Foreign::Report, Foreign::End};
  if (const auto index = reading.choice(field, kWords)) watch.foreign = kForeign[*index];
}

}  // namespace

bool is_known(Reading& reading, const Field& field, std::span<const std::string_view> keys) {
  if (std::find(keys.begin(), keys.end(), field.key) != keys.end()) return true;
  reading.warn_unknown(field, {keys.begin(), keys.end()});
  return false;
}

void read_http(Reading& reading, const Field& field, Http& http) {
  if (!field.value.is_object()) {
    return reading.fail(field.place.value, field.naming() + " must be an object",
                        R"(Write "http": {"port": 8765})");
  }
  reading.each_member(field.value, field.place.value, "\"http\"",
                      [&](const Field& member) { read_http_member(reading, member, http); });
}

void read_watch(Reading& reading, const Field& field, WatchRules& watch) {
  if (!field.value.is_object()) {
    return reading.fail(field.place.value, field.naming() + " must be an object",
                        R"(Write "watch": {"interval": "60s", "foreign": "report"})");
  }
  reading.each_member(field.value, field.place.value, "\"watch\"", [&](const Field& member) {
    if (!is_known(reading, member, kWatchKeys) || reading.is_locked(member, "watch." + member.key)) return;
    if (member.key == "interval") return read_interval(reading, member, watch);
    read_foreign(reading, member, watch);
  });
}

}  // namespace corral::config
