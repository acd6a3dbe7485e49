#include "config/show.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace corral::config {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

TEST(ShowConfiguration, HidesWhatLooksLikeASecret) {
  EXPECT_EQ(show_variable("API_KEY", "hush"), "***");
  EXPECT_EQ(show_variable("GITHUB_TOKEN", "${GITHUB_TOKEN}"), "${GITHUB_TOKEN}");
  EXPECT_EQ(show_variable("GITHUB_TOKEN", "${GITHUB_TOKEN:-hush}"), "***");
  EXPECT_EQ(show_variable("GITHUB_TOKEN", "${A}hush}"), "***");
  EXPECT_EQ(show_variable("LEVEL", "debug"), "debug");
  EXPECT_EQ(show_variable("OTHER", "ghp_0123456789abcdef"), "***");
  EXPECT_EQ(show_variable("DATABASE", "postgres://me:hush@host/db"), "postgres://me:***@host/db");
}

TEST(ShowConfiguration, WritesDurationsAsTheFileTakesThem) {
  EXPECT_EQ(show_duration(0ms), "0s");
  EXPECT_EQ(show_duration(1500ms), "1500ms");
  EXPECT_EQ(show_duration(30s), "30s");
  EXPECT_EQ(show_duration(5min), "5m");
}

TEST(ShowConfiguration, IsJsonWithoutSecrets) {
  const Result<Configuration> found =
      parse(R"({"mcpServers": {"a": {"command": "x", "args": ["--token", "hush"],
      "env": {"API_KEY": "hush", "LEVEL": "debug"}, "timeout": "30s", "tools": ["t*"], "deny": ["tx"],
      "corral": {"on_stop": "curl -H 'Authorization: Bearer hush' x", "memory": "1M", "cpu": 0.5, "share": "root",
        "restart": false, "probe": "2s", "era": "modern", "eager": true, "warm": 2, "on_change": "warn", "min_version": "1.2", "recycle": "2M"}}, "b": {"command": "y", "corral": {"park": false}}},
      "corral": {"max_instances": 3, "keep": 2, "http": {"port": 8765, "hosts": ["h"]},
        "watch": {"interval": "5s", "foreign": "end"}, "min_version": "0.1.0", "history": 3}, "odd": 1})",
            "f.json");
  ASSERT_TRUE(found) << found.error().message;

  const std::string text = to_json(*found);

  EXPECT_THAT(text, Not(HasSubstr("hush")));
  const boost::json::value value = boost::json::parse(text);
  const boost::json::value& server = value.at("servers").at(0);
  EXPECT_EQ(value.at("file"), "f.json");
  EXPECT_EQ(value.at("warnings").as_array().size(), 1U);
  EXPECT_EQ(value.at("options").at("drain_ms"), 5000);
  EXPECT_EQ(server.at("command"), "x --token ***");
  EXPECT_EQ(server.at("env").at("LEVEL"), "debug");
  EXPECT_EQ(server.at("timeout_ms"), 30'000);
  EXPECT_EQ(server.at("share"), "root");
  EXPECT_EQ(server.at("restart"), false);
  EXPECT_TRUE(server.at("park").is_null());
  EXPECT_EQ(server.at("probe_ms"), 2000);
  EXPECT_EQ(value.at("servers").at(1).at("park"), false);
  EXPECT_EQ(value.at("servers").at(1).at("restart"), true);
  EXPECT_EQ(server.at("era"), "modern");
  EXPECT_EQ(server.at("eager"), true);
  EXPECT_EQ(server.at("warm"), 2);
  EXPECT_EQ(server.at("on_change"), "warn");
  EXPECT_EQ(value.at("servers").at(1).at("era"), "auto");
  EXPECT_EQ(value.at("servers").at(1).at("on_change"), "roll");
  EXPECT_EQ(server.at("min_version"), "1.2");
  EXPECT_EQ(server.at("recycle_bytes"), 2 << 20);
  EXPECT_TRUE(value.at("servers").at(1).at("min_version").is_null());
  EXPECT_EQ(value.at("options").at("watch").at("interval_ms"), 5000);
  EXPECT_EQ(value.at("options").at("watch").at("foreign"), "end");
  EXPECT_EQ(value.at("options").at("min_version"), "0.1.0");
  EXPECT_EQ(value.at("options").at("history_days"), 3);
  EXPECT_EQ(value.at("options").at("max_instances"), 3);
  EXPECT_EQ(value.at("options").at("keep"), 2);
  const boost::json::value& http = value.at("options").at("http");
  EXPECT_EQ(http.at("port"), 8765);
  EXPECT_EQ(http.at("bind"), "127.0.0.1");
  EXPECT_EQ(http.at("hosts").at(0), "h");
  EXPECT_EQ(http.at("idle_ms"), 1'800'000);
  EXPECT_EQ(server.at("limits").at("memory_bytes"), 1 << 20);
  EXPECT_TRUE(server.at("cwd").is_null());
  EXPECT_EQ(server.at("tools").as_array(), boost::json::array{"t*"});
  EXPECT_EQ(server.at("deny").as_array(), boost::json::array{"tx"});
  EXPECT_TRUE(value.at("servers").at(1).at("tools").is_null()) << "no list is not an empty list";
}

}  // namespace
}  // namespace corral::config
