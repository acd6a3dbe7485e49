#include "config/show.h"

#include <boost/json.hpp>

#include "base/secrets.h"
#include "base/text.h"
#include "config/server_options.h"

namespace corral::config {
namespace {

namespace json = boost::json;

bool is_reference(const std::string& value) {
  return value.starts_with("${") && value.find('}') == value.size() - 1 &&
         value.find(":-") == std::string::npos;
}

json::array texts(const std::vector<std::string>& list) {
  json::array array;
  for (const std::string& text : list) array.emplace_back(printable(text));
  return array;
}

json::value text_or_null(const std::string& text) { return text.empty() ? json::value() : json::value(text); }

json::object object_of(const Server& server) {
  json::object object = {
      {"name", printable(server.name)}, {"file", printable(server.file)}, {"line", server.line}};
  for (const ServerOption& option : server_options()) {
    const std::string_view key = option.value.json_key;
    if (key.empty()) continue;
    json::value value = option.value.json(server);
    const std::size_t dot = key.find('.');
    if (dot == key.npos) {
      object[key] = std::move(value);
    } else {
      json::value& group = object[key.substr(0, dot)];
      if (!group.is_object()) group.emplace_object();
      if (!value.is_null()) group.get_object()[key.substr(dot + 1)] = std::move(value);
    }
  }
  return object;
}

json::object object_of(const Http& http) {
  json::object object = {{"port", nullptr},
                         {"bind", http.bind},
                         {"hosts", texts(http.hosts)},
                         {"origins", texts(http.origins)},
                         {"idle_ms", http.idle.count()}};
  if (http.port) object["port"] = *http.port;
  return object;
}

using Places = std::map<std::string, FilePlace, std::less<>>;

json::object object_of(const Places& places) {
  json::object object;
  for (const auto& [key, place] : places) {
    object[printable(key)] = {{"file", printable(place.file)}, {"line", place.line}};
  }
  return object;
}

json::object object_of(const WatchRules& watch) {
  return {{"interval_ms", watch.interval.count()}, {"foreign", name_of(watch.foreign)}};
}

}  // namespace

const char* name_of(Share share) {
  switch (share) {
    case Share::Auto: return "auto";
    case Share::Shared: return "shared";
    case Share::Session: return "session";
    case Share::Root: return "root";
  }
  return "?";
}

const char* name_of(proc::Containment containment) {
  switch (containment) {
    case proc::Containment::Auto: return "auto";
    case proc::Containment::Strict: return "strict";
    case proc::Containment::Basic: return "basic";
  }
  return "?";
}

const char* name_of(OnChange on_change) {
  switch (on_change) {
    case OnChange::Roll: return "roll";
    case OnChange::Warn: return "warn";
    case OnChange::Ignore: return "ignore";
  }
  return "?";
}

const char* name_of(Foreign foreign) {
  switch (foreign) {
    case Foreign::Off: return "off";
    case Foreign::Report: return "report";
    case Foreign::End: return "end";
  }
  return "?";
}

const char* era_name(std::optional<bool> modern) { return !modern ? "auto" : *modern ? "modern" : "legacy"; }

std::string show_variable(const std::string& name, const std::string& value) {
  if (is_reference(value)) return printable(value);
  if (names_secret(name)) return "***";
  return show_command({value});
}

std::string show_duration(std::chrono::milliseconds time) {
  const auto count = time.count();
  if (count % 60'000 == 0 && count > 0) return std::to_string(count / 60'000) + "m";
  if (count % 1000 == 0) return std::to_string(count / 1000) + "s";
  return std::to_string(count) + "ms";
}

std::vector<ShownLine> lines_of(const Server& server, Lines which) {
  std::vector<ShownLine> lines;
  const Server usual;
  for (const ServerOption& option : server_options()) {
    if (option.text.phrase == nullptr) continue;
    const std::string text = option.text.phrase(server);
    if (text.empty() || (which == Lines::Changed && text == option.text.phrase(usual))) continue;
    if (!option.text.verbatim && !lines.empty() && lines.back().label == option.text.line) {
      lines.back().text += std::string(option.text.joiner) + text;
      continue;
    }
    std::size_t begin = 0;
    for (std::size_t end = 0; end != text.npos; begin = end + 1) {
      end = option.text.verbatim ? text.find('\n', begin) : text.npos;
      lines.push_back({option.text.line, text.substr(begin, end - begin), option.text.verbatim});
    }
  }
  return lines;
}

std::map<std::string, std::string> about(const Server& server) {
  std::map<std::string, std::string> texts;
  for (const ServerOption& option : server_options()) {
    if (!option.about) continue;
    const json::value text = option.value.json(server);
    if (text.is_string()) texts.emplace(option.key, text.get_string());
  }
  return texts;
}

std::string to_json(const Configuration& configuration) {
  json::array servers;
  for (const Server& server : configuration.servers) servers.emplace_back(object_of(server));
  const Options& options = configuration.options;
  const std::string& machine = configuration.machine_file;
  return json::serialize(json::object{
      {"file", printable(configuration.file)},
      {"machine_file", text_or_null(printable(machine))},
      {"servers", std::move(servers)},
      {"options",
       {{"line_cap_bytes", options.line_cap},
        {"drain_ms", options.drain.count()},
        {"linger_ms", options.linger.count()},
        {"max_instances", options.max_instances},
        {"keep", options.keep},
        {"http", object_of(options.http)},
        {"watch", object_of(options.watch)},
        {"min_version", text_or_null(options.min_version)},
        {"unattended_ms", options.unattended ? json::value(options.unattended->count()) : json::value()},
        {"history_days", options.history / std::chrono::hours(24)}}},
      {"option_places", object_of(configuration.option_places)},
      {"locks", object_of(configuration.locks)},
      {"overruled", texts(configuration.overruled)},
      {"warnings", texts(configuration.warnings)}});
}

}  // namespace corral::config
