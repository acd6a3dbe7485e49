// The report for programs, word for word: docs/doctor-schema.json allows more than what is meant.
#include "survey/survey_json.h"
#include "base/text.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "version.h"

namespace corral::survey {
namespace {

namespace json = boost::json;

Client codex() {
  Client client;
  client.id = "codex";
  client.name = "Codex";
  client.pid = 40;
  client.command = "codex --yolo";
  client.root = "/home/me";
  client.age = std::chrono::milliseconds(61'999);
  return client;
}

Server serving() {
  Server server;
  server.pid = 50;
  server.tree = {50, 51};
  server.uid = 1000;
  server.command.name = "@x/files";
  server.command.version = "1.2.3";
  server.shown = "npx @x/files";
  server.root = "/srv";
  server.age = std::chrono::milliseconds(1999);
  server.certainty = Server::Certainty::Confirmed;
  server.client = codex();
  server.configured_as = {"codex: files", "cursor: f"};
  server.evidence = {{Evidence::Kind::Pipe, "its pipes lead to Codex"}, {Evidence::Kind::Name, "mcp"}};
  server.memory = {3000, 2000, 500};
  server.cpu = 0.5;
  server.stale_file = "/srv/index.js";
  return server;
}

constexpr const char* kServing =
    R"({"pid":50,"processes":[50,51],"uid":1000,"name":"@x/files","version":"1.2.3",)"
    R"("command":"npx @x/files","root":"/srv","age_seconds":1,"state":"serving","certainty":"confirmed",)"
    R"("cause":null,"client":{"id":"codex","name":"Codex","alive":true,"pid":40,"command":"codex --yolo",)"
    R"("root":"/home/me","age_seconds":61},)"
    R"("memory":{"pss_bytes":2000,"rss_bytes":3000,"swap_bytes":500},"cpu_cores":5E-1,)"
    R"("stale_file":"/srv/index.js","configured_as":["codex: files","cursor: f"],)"
    R"("evidence":[{"kind":"pipe","text":"its pipes lead to Codex"},{"kind":"name","text":"mcp"}]})";

/// As little as there can be of one.
constexpr const char* kOrphan =
    R"({"pid":60,"processes":[],"uid":0,"name":"x","version":null,"command":"","root":null,)"
    R"("age_seconds":0,"state":"orphan","certainty":"possible","cause":"let-go",)"
    R"("client":{"id":null,"name":"unknown","alive":false,"pid":null,"command":null,"root":null,)"
    R"("age_seconds":null},"memory":{"pss_bytes":0,"rss_bytes":4000,"swap_bytes":1},"cpu_cores":0E0,)"
    R"("stale_file":null,"configured_as":[],"evidence":[]})";

Server orphan() {
  Server server;
  server.pid = 60;
  server.command.name = "x";
  server.state = Server::State::Orphan;
  server.cause = Server::Cause::LetGo;
  server.client.name = "unknown";
  server.memory.resident = 4000;
  server.memory.swapped = 1;
  return server;
}

Survey both() {
  Survey survey;
  survey.servers = {serving(), orphan()};
  survey.clients = {{codex(), {50}}};
  survey.limits_of_sight = {"Others are hidden."};
  survey.processes = 321;
  return survey;
}

Finding pile_up() {
  return {Finding::Kind::PileUp, {0, 1}, "2 copies", "It starts one each time.", "corral reap"};
}

constexpr const char* kPileUp =
    R"({"kind":"pile-up","title":"2 copies","servers":[50,60],"memory_bytes":6501,)"
    R"("explanation":"It starts one each time.","next":"corral reap"})";

TEST(SurveyJson, OfAServerHasAllThatIsKnown) {
  EXPECT_EQ(to_json(serving()), kServing);
  EXPECT_EQ(to_json(orphan()), kOrphan);
}

TEST(SurveyJson, OfAFindingNamesItsServersAndTheirMemory) {
  EXPECT_EQ(to_json(both(), pile_up()), kPileUp);

  Finding stale{Finding::Kind::Stale, {1}, "old", "why", ""};
  EXPECT_EQ(
      to_json(both(), stale),
      R"({"kind":"stale","title":"old","servers":[60],"memory_bytes":4001,"explanation":"why","next":null})");
}

TEST(SurveyJson, IsOneLineWithEverythingInIt) {
  proc::Levels levels;
  levels.cgroup = levels.controllers = true;
  levels.why_not_strict = "no namespaces";

  EXPECT_EQ(to_json(both(), {pile_up()}, levels, 7),
            std::string(R"({"schema":1,"corral_version":")") + kVersion +
                R"(","keep":7,"processes_seen":321,"containment":{"auto":"cgroup","controllers":true,)"
                R"("strict":false,"why_not_strict":"no namespaces"},)"
                R"("clients":[{"id":"codex","name":"Codex","alive":true,"pid":40,"command":"codex --yolo",)"
                R"("root":"/home/me","age_seconds":61,"servers":[50]}],)"
                R"("configured":{"servers":[],"files":[],"notes":[]},"servers":[)" +
                kServing + "," + kOrphan + R"(],"findings":[)" + kPileUp +
                R"(],"limits_of_sight":["Others are hidden."]})");
}

TEST(SurveyJson, SaysHowATreeIsHeldWhereThereIsNothingBetter) {
  proc::Levels levels;
  levels.strict = true;

  const json::value written = json::parse(to_json(Survey(), {}, levels, 0));

  EXPECT_EQ(json::serialize(written.at("containment")),
            R"({"auto":"keeper","controllers":false,"strict":true,"why_not_strict":null})");
  EXPECT_EQ(written.at("servers"), json::array());
  EXPECT_EQ(written.at("findings"), json::array());
}

TEST(SurveyJson, HasWhatIsConfiguredWithoutItsSecrets) {
  Survey survey;
  known::ConfiguredServer files;
  files.client = "codex";
  files.name = "fi\nles";
  files.argv = {"npx", "--token", "geheim"};
  files.file = "/home/me/.codex/config.toml";
  files.project = "/srv";
  known::ConfiguredServer by_url;
  by_url.client = "cursor";
  by_url.name = "web";
  by_url.file = "/f";
  survey.configurations.servers = {files, by_url};
  survey.configurations.files = {"/a", "/b"};
  survey.configurations.notes = {{"/c", "line 1, column 2: no"}};

  const json::value written = json::parse(to_json(survey, {}, {}, 9));

  const std::string shown_name = printable("fi\nles");
  json::array servers{json::object{{"client", "codex"},
                                   {"name", shown_name},
                                   {"command", "npx --token ***"},
                                   {"file", "/home/me/.codex/config.toml"},
                                   {"project", "/srv"},
                                   {"kept", false}},
                      json::object{{"client", "cursor"},
                                   {"name", "web"},
                                   {"command", nullptr},
                                   {"file", "/f"},
                                   {"project", nullptr},
                                   {"kept", nullptr}}};
  EXPECT_EQ(written.at("configured"),
            (json::object{{"servers", servers},
                          {"files", {"/a", "/b"}},
                          {"notes", {json::object{{"file", "/c"}, {"message", "line 1, column 2: no"}}}}}));
}

TEST(SurveyJson, NamesEveryStateAndCause) {
  using State = Server::State;
  using Cause = Server::Cause;
  EXPECT_STREQ(name_of(State::Serving), "serving");
  EXPECT_STREQ(name_of(State::Orphan), "orphan");
  EXPECT_STREQ(name_of(State::Kept), "kept");
  EXPECT_STREQ(name_of(State::Apart), "apart");
  EXPECT_STREQ(name_of(Cause::None), "none");
  EXPECT_STREQ(name_of(Cause::ClientGone), "client-gone");
  EXPECT_STREQ(name_of(Cause::LetGo), "let-go");
  EXPECT_STREQ(name_of(Cause::LauncherGone), "launcher-gone");
  EXPECT_STREQ(name_of(Cause::CorralKilled), "corral-killed");
}

}  // namespace
}  // namespace corral::survey
