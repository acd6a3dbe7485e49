#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

#include "observe/snapshot.h"
#include "observe/views.h"

namespace corral::observe {
namespace {

namespace json = boost::json;

std::string formatted_after(milliseconds uptime) {
  Snapshot snapshot = some_snapshot();
  snapshot.daemon.uptime = uptime;
  return std::string(parsed(info_json(snapshot)).at("current_uptime_formatted").as_string());
}

TEST(ServerInfo, HasTheDemandedMembersWithTheirTypes) {
  const json::value info = parsed(info_json(some_snapshot()));

  EXPECT_EQ(info.at("success"), json::value(true));
  EXPECT_EQ(info.at("server_version"), json::value("0.1.0"));
  EXPECT_EQ(info.at("build_date"), json::value("2026-11-16"));
  EXPECT_EQ(info.at("current_pid"), json::value(10));
  EXPECT_EQ(info.at("current_uptime_seconds"), json::value(3600));
  EXPECT_EQ(info.at("current_uptime_formatted"), json::value("1h 0m"));
  EXPECT_EQ(info.at("total_server_processes"), json::value(2));
  EXPECT_EQ(info.at("health"), json::value("healthy"));
  EXPECT_EQ(json::serialize(info.at("health_reasons")), "[]");
  EXPECT_EQ(json::serialize(info.at("pid_file")),
            R"({"path":"/run/corral.pid","exists":true,"pid":10,"version":"0.1.0",)"
            R"("started":"2026-11-16T03:00:00Z","matches":true})");
}

TEST(ServerInfo, ListsTheDaemonAsTheCurrentProcess) {
  const json::value info = parsed(info_json(some_snapshot()));

  const json::value& daemon = info.at("server_processes").at(0);
  EXPECT_EQ(daemon.at("pid"), info.at("current_pid"));
  EXPECT_EQ(daemon.at("is_current"), json::value(true));
  EXPECT_EQ(daemon.at("server"), json::value("corral"));
  EXPECT_EQ(daemon.at("status"), json::value("running"));
  EXPECT_EQ(daemon.at("version"), info.at("server_version"));
  EXPECT_EQ(daemon.at("uptime_formatted"), info.at("current_uptime_formatted"));
}

TEST(ServerInfo, SaysWhomAProcessServes) {
  const json::value process = parsed(info_json(some_snapshot())).at("server_processes").at(1);

  EXPECT_EQ(process.at("pid"), json::value(100));
  EXPECT_EQ(process.at("is_current"), json::value(false));
  EXPECT_EQ(process.at("uptime_seconds"), json::value(61));
  EXPECT_EQ(process.at("uptime_formatted"), json::value("1m 1s"));
  EXPECT_EQ(process.at("status"), json::value("ready"));
  EXPECT_EQ(process.at("server"), json::value("files"));
  EXPECT_EQ(process.at("version"), json::value("1.2.3"));
  EXPECT_EQ(process.at("client"), json::value("claude-code 2.1 (pid 812), codex 2.1"));
  EXPECT_EQ(json::serialize(process.at("sessions")), "[7,8]");
  EXPECT_EQ(process.at("clients").at(1).at("session"), json::value(8));
}

TEST(ServerInfo, NamesAClientOnceAndNotMoreThanAFew) {
  Snapshot snapshot = some_snapshot();
  snapshot.sessions.clear();
  snapshot.instances[0].sessions.clear();
  for (std::uint64_t id = 1; id <= 22; ++id) {
    snapshot.sessions.push_back(some_session(id, "client", static_cast<pid_t>(id / 2)));
    snapshot.instances[0].sessions.push_back(id);
  }

  const json::value process = parsed(info_json(snapshot)).at("server_processes").at(1);

  const std::string client(process.at("client").as_string());
  EXPECT_EQ(client.find("(pid 3)"), client.rfind("(pid 3)"));
  EXPECT_EQ(client.substr(client.size() - 11), " and 4 more");
  EXPECT_EQ(process.at("sessions").as_array().size(), 22U);
}

TEST(ServerInfo, ShowsAHundredBytesOfAClientsName) {
  Snapshot snapshot = some_snapshot();
  snapshot.sessions = {some_session(7, std::string(100, 'n') + "rest", 0)};
  snapshot.instances[0].sessions = {7};

  const json::value process = parsed(info_json(snapshot)).at("server_processes").at(1);

  EXPECT_EQ(process.at("client"), json::value(std::string(100, 'n') + " 2.1"));
}

TEST(ServerInfo, LeavesOutAnInstanceThatHasNoProcessYet) {
  Snapshot snapshot = some_snapshot();
  snapshot.instances.push_back(some_instance("memory", 0));

  const json::value info = parsed(info_json(snapshot));

  EXPECT_EQ(info.at("total_server_processes"), json::value(2));
}

TEST(ServerInfo, SaysNullForAPidFileThatIsNotThere) {
  Snapshot snapshot = some_snapshot();
  snapshot.daemon.pid_file = {"/run/corral.pid", false, 0, "", "", false};

  EXPECT_EQ(
      json::serialize(parsed(info_json(snapshot)).at("pid_file")),
      R"({"path":"/run/corral.pid","exists":false,"pid":null,"version":null,"started":null,"matches":false})");
}

TEST(ServerInfo, FormatsATimeWithTwoUnits) {
  EXPECT_EQ(formatted_after(milliseconds(-5)), "0s");
  EXPECT_EQ(formatted_after(milliseconds(59'999)), "59s");
  EXPECT_EQ(formatted_after(std::chrono::minutes(4)), "4m 0s");
  EXPECT_EQ(formatted_after(std::chrono::minutes(185)), "3h 5m");
  EXPECT_EQ(formatted_after(std::chrono::hours(52)), "2d 4h");
  EXPECT_EQ(formatted_after(std::chrono::seconds(60)), "1m 0s");
  EXPECT_EQ(formatted_after(std::chrono::seconds(3599)), "59m 59s");
  EXPECT_EQ(formatted_after(std::chrono::seconds(3600)), "1h 0m");
  EXPECT_EQ(formatted_after(std::chrono::seconds(86'399)), "23h 59m");
  EXPECT_EQ(formatted_after(std::chrono::seconds(86'400)), "1d 0h");
}

}  // namespace
}  // namespace corral::observe
