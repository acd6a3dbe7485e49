#include "config/show.h"

#include <boost/json.hpp>

#include "base/secrets.h"
#include "base/text.h"

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

json::object limits_of(const Server& server) {
  json::object limits;
  if (server.limits.memory_bytes) limits["memory_bytes"] = *server.limits.memory_bytes;
  if (server.limits.processes) limits["pids"] = *server.limits.processes;
  if (server.limits.cpu_thousandths) limits["cpu"] = *server.limits.cpu_thousandths / 1000.0;
  return limits;
}

json::value version_or_null(const std::string& version) {
  return version.empty() ? json::value() : json::value(version);
}

json::object object_of(const Server& server) {
  json::object environment;
  for (const auto& [name, value] : server.env) environment[printable(name)] = show_variable(name, value);
  json::object object = {{"name", printable(server.name)},
                         {"line", server.line},
                         {"command", show_command(server.argv)},
                         {"env", std::move(environment)},
                         {"cwd", nullptr},
                         {"share", name_of(server.share)},
                         {"roots", texts(server.roots)},
                         {"stateless", server.stateless},
                         {"disabled", server.disabled},
                         {"tools", nullptr},
                         {"deny", texts(server.deny)},
                         {"timeout_ms", nullptr},
                         {"containment", name_of(server.containment)},
                         {"limits", limits_of(server)},
                         {"stdin_grace_ms", server.stdin_grace.count()},
                         {"term_grace_ms", server.term_grace.count()},
                         {"idle_ms", server.idle.count()},
                         {"restart", server.restart},
                         {"park", nullptr},
                         {"probe_ms", server.probe.count()},
                         {"era", era_name(server.modern)},
                         {"eager", server.eager},
                         {"warm", server.warm},
                         {"on_change", name_of(server.on_change)},
                         {"recycle_bytes", nullptr},
                         {"on_stop", nullptr}};
  if (server.tools) object["tools"] = texts(*server.tools);
  if (!server.cwd.empty()) object["cwd"] = printable(server.cwd);
  if (server.timeout) object["timeout_ms"] = server.timeout->count();
  object["min_version"] = version_or_null(server.min_version);
  if (server.recycle) object["recycle_bytes"] = *server.recycle;
  if (server.park) object["park"] = *server.park;
  if (!server.on_stop.empty()) object["on_stop"] = show_command({server.on_stop});
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

std::string to_json(const Configuration& configuration) {
  json::array servers;
  for (const Server& server : configuration.servers) servers.emplace_back(object_of(server));
  const Options& options = configuration.options;
  return json::serialize(json::object{{"file", printable(configuration.file)},
                                      {"servers", std::move(servers)},
                                      {"options",
                                       {{"line_cap_bytes", options.line_cap},
                                        {"drain_ms", options.drain.count()},
                                        {"linger_ms", options.linger.count()},
                                        {"max_instances", options.max_instances},
                                        {"keep", options.keep},
                                        {"http", object_of(options.http)},
                                        {"watch", object_of(options.watch)},
                                        {"min_version", version_or_null(options.min_version)},
                                        {"history_days", options.history / std::chrono::hours(24)}}},
                                      {"warnings", texts(configuration.warnings)}});
}

}  // namespace corral::config
