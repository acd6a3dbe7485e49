#include "survey/survey_json.h"

#include <boost/json.hpp>

#include "base/secrets.h"
#include "base/text.h"
#include "version.h"

namespace corral::survey {
namespace {

namespace json = boost::json;

std::int64_t whole_seconds(std::chrono::milliseconds time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time).count();
}

json::value text_or_null(const std::string& text) {
  if (text.empty()) return nullptr;
  return json::string(printable(text));
}

json::object describe(const Client& client) {
  json::object object{
      {"id", text_or_null(client.id)}, {"name", printable(client.name)}, {"alive", client.alive()}};
  object["pid"] = client.alive() ? json::value(client.pid) : json::value(nullptr);
  object["command"] = text_or_null(client.command);
  object["root"] = text_or_null(client.root);
  object["age_seconds"] = client.alive() ? json::value(whole_seconds(client.age)) : json::value(nullptr);
  return object;
}

json::array pids(const std::vector<pid_t>& list) { return json::array(list.begin(), list.end()); }

json::object describe(const Server& server) {
  json::object object{
      {"pid", server.pid},
      {"processes", pids(server.tree)},
      {"uid", server.uid},
      {"name", printable(server.command.name)},
      {"version", text_or_null(server.command.version)},
      {"command", server.shown},
      {"root", text_or_null(server.root)},
      {"age_seconds", whole_seconds(server.age)},
      {"state", name_of(server.state)},
      {"certainty", server.certainty == Server::Certainty::Confirmed ? "confirmed" : "possible"},
      {"cause", server.cause == Server::Cause::None ? json::value(nullptr) : name_of(server.cause)},
      {"client", describe(server.client)}};
  object["memory"] = json::object{{"pss_bytes", server.memory.proportional},
                                  {"rss_bytes", server.memory.resident},
                                  {"swap_bytes", server.memory.swapped}};
  object["cpu_cores"] = server.cpu;
  object["stale_file"] = text_or_null(server.stale_file);
  json::array configured;
  for (const std::string& place : server.configured_as) configured.emplace_back(place);
  object["configured_as"] = std::move(configured);
  json::array evidence;
  for (const Evidence& piece : server.evidence) {
    evidence.push_back(json::object{{"kind", name_of(piece.kind)}, {"text", piece.text}});
  }
  object["evidence"] = std::move(evidence);
  return object;
}

json::object describe(const Survey& survey, const Finding& finding) {
  json::array tops;
  std::uint64_t memory = 0;
  for (const std::size_t index : finding.servers) {
    tops.push_back(survey.servers[index].pid);
    memory += survey.servers[index].memory.footprint();
  }
  return {{"kind", name_of(finding.kind)},      {"title", finding.title},
          {"servers", std::move(tops)},         {"memory_bytes", memory},
          {"explanation", finding.explanation}, {"next", text_or_null(finding.next)}};
}

json::array describe_clients(const Survey& survey) {
  json::array clients;
  for (const RunningClient& running : survey.clients) {
    json::object client = describe(running.client);
    client["servers"] = pids(running.servers);
    clients.push_back(std::move(client));
  }
  return clients;
}

json::object describe(const known::Configurations& configurations) {
  json::array servers;
  for (const known::ConfiguredServer& server : configurations.servers) {
    servers.push_back(
        json::object{{"client", server.client},
                     {"name", printable(server.name)},
                     {"command", text_or_null(show_command(server.argv))},
                     {"file", printable(server.file)},
                     {"project", text_or_null(server.project)},
                     {"kept", server.argv.empty() ? json::value(nullptr)
                                                  : json::value(known::goes_through_corral(server.argv))}});
  }
  json::array files;
  for (const std::string& file : configurations.files) files.emplace_back(printable(file));
  json::array notes;
  for (const known::ConfigNote& note : configurations.notes) {
    notes.push_back(json::object{{"file", printable(note.file)}, {"message", printable(note.message)}});
  }
  return {{"servers", std::move(servers)}, {"files", std::move(files)}, {"notes", std::move(notes)}};
}

}  // namespace

const char* name_of(Server::State state) {
  switch (state) {
    case Server::State::Serving: return "serving";
    case Server::State::Orphan: return "orphan";
    case Server::State::Kept: return "kept";
    case Server::State::Apart: return "apart";
  }
  return "?";
}

const char* name_of(Server::Cause cause) {
  switch (cause) {
    case Server::Cause::None: return "none";
    case Server::Cause::ClientGone: return "client-gone";
    case Server::Cause::LetGo: return "let-go";
    case Server::Cause::LauncherGone: return "launcher-gone";
    case Server::Cause::CorralKilled: return "corral-killed";
  }
  return "?";
}

json::object describe(const proc::Levels& levels) {
  return {{"auto", levels.cgroup ? "cgroup" : "keeper"},
          {"controllers", levels.controllers},
          {"strict", levels.strict},
          {"why_not_strict", text_or_null(levels.why_not_strict)}};
}

std::string to_json(const Survey& survey, const std::vector<Finding>& findings, const proc::Levels& levels,
                    std::size_t keep) {
  json::array servers;
  for (const Server& server : survey.servers) servers.push_back(describe(server));
  json::array found;
  for (const Finding& finding : findings) found.push_back(describe(survey, finding));
  json::array notes;
  for (const std::string& sentence : survey.limits_of_sight) notes.emplace_back(sentence);
  return json::serialize(json::object{{"schema", 1},
                                      {"corral_version", kVersion},
                                      {"keep", keep},
                                      {"processes_seen", survey.processes},
                                      {"containment", describe(levels)},
                                      {"clients", describe_clients(survey)},
                                      {"configured", describe(survey.configurations)},
                                      {"servers", std::move(servers)},
                                      {"findings", std::move(found)},
                                      {"limits_of_sight", std::move(notes)}});
}

std::string to_json(const Survey& survey, const Finding& finding) {
  return json::serialize(describe(survey, finding));
}

std::string to_json(const Server& server) { return json::serialize(describe(server)); }

}  // namespace corral::survey
