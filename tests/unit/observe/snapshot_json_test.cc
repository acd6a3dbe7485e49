#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>
#include <cmath>

#include "observe/snapshot.h"
#include "observe/views.h"
#include "wire/json_writer.h"

namespace corral::observe {
namespace {

namespace json = boost::json;

std::string keys_of(const json::value& object) {
  std::string keys;
  for (const auto& member : object.as_object()) keys += (keys.empty() ? "" : " ") + std::string(member.key());
  return keys;
}

TEST(StatusJson, HasEveryMemberOfTheOldStatusAndTheNewOnes) {
  const json::value status = parsed(status_json(some_snapshot()));

  EXPECT_EQ(keys_of(status), "daemon health http servers instances sessions objects failures counters");
  EXPECT_EQ(
      keys_of(status.at("daemon")),
      "pid version build protocol uptime_ms config config_error registry degraded program program_replaced");
  EXPECT_EQ(keys_of(status.at("servers").at(0)), "name disabled stopped broken log_file");
  EXPECT_EQ(keys_of(status.at("instances").at(0)),
            "server id version pid keeper state era share root stale rolls reason separate differs hint "
            "unattended level "
            "sessions calls uptime_ms ends_in_ms limits usage counters");
  EXPECT_EQ(keys_of(status.at("sessions").at(0)),
            "id server client shim transport state object instance age_ms unattended_ms calls messages "
            "bad_messages dropped");
  EXPECT_EQ(keys_of(status.at("sessions").at(0).at("client")), "pid name version command root");
}

TEST(StatusJson, SaysNullWhereThereIsNothingToSay) {
  Snapshot snapshot = some_snapshot();
  snapshot.instances[0].version = "";
  snapshot.daemon.registry = "";

  const json::value status = parsed(status_json(snapshot));

  EXPECT_TRUE(status.at("daemon").at("config_error").is_null());
  EXPECT_TRUE(status.at("daemon").at("registry").is_null());
  EXPECT_TRUE(status.at("http").at("url").is_null());
  EXPECT_TRUE(status.at("servers").at(1).at("log_file").is_null());
  const json::value& instance = status.at("instances").at(0);
  for (const char* const name :
       {"version", "root", "stale", "separate", "hint", "ends_in_ms", "limits", "usage"}) {
    EXPECT_TRUE(instance.at(name).is_null()) << name;
  }
  EXPECT_TRUE(status.at("sessions").at(0).at("client").at("command").is_null());
  EXPECT_EQ(json::serialize(status.at("counters")),
            R"({"instances_started":4,"failed_starts":0,"refusals":0,"crashes":0})");
}

TEST(StatusJson, ShowsLimitsAndWhatWasMeasured) {
  Snapshot snapshot = some_snapshot();
  snapshot.instances[0].limits.memory = 1 << 20;
  snapshot.instances[0].limits.cpu = 1.5;
  snapshot.instances[0].usage =
      UsageView{4096, 0.25, {{100, 99, "no\"de", "S", 4096, milliseconds(30), milliseconds(900)}}};

  const json::value instance = parsed(status_json(snapshot)).at("instances").at(0);

  EXPECT_EQ(json::serialize(instance.at("limits")),
            R"({"memory":1048576,"pids":null,"cpu":1.5E0,"recycle":null})");
  EXPECT_EQ(
      json::serialize(instance.at("usage").at("processes")),
      R"([{"pid":100,"parent":99,"name":"no\"de","state":"S","memory":4096,"cpu_ms":30,"age_ms":900}])");
  EXPECT_EQ(instance.at("usage").at("cpu").as_double(), 0.25);
}

TEST(StatusJson, StaysJsonWhateverClientsCallThemselves) {
  Snapshot snapshot = some_snapshot();
  snapshot.sessions[0].client.name = "\"},{\xff\n\x01";
  snapshot.sessions[0].client.root = std::string("a\0b", 3);

  const json::value status = parsed(status_json(snapshot));

  EXPECT_EQ(status.at("sessions").at(0).at("client").at("name").as_string(), "\"},{\xef\xbf\xbd\n\x01");
  EXPECT_EQ(status.at("objects").as_array().size(), 0U);
  EXPECT_NO_THROW(parsed(info_json(snapshot)));
}

TEST(ApiLists, AreThoseOfTheStatus) {
  const Snapshot snapshot = some_snapshot();
  const json::value status = parsed(status_json(snapshot));

  EXPECT_EQ(parsed(servers_json(snapshot)).at("servers"), status.at("servers"));
  EXPECT_EQ(parsed(instances_json(snapshot)).at("instances"), status.at("instances"));
  EXPECT_EQ(parsed(sessions_json(snapshot)).at("sessions"), status.at("sessions"));
}

TEST(DecimalJson, IsANumberWhateverItIsGiven) {
  EXPECT_EQ(wire::decimal_json(0), "0");
  EXPECT_EQ(wire::decimal_json(-0.0001), "0");
  EXPECT_EQ(wire::decimal_json(1.5), "1.5");
  EXPECT_EQ(wire::decimal_json(100), "100");
  EXPECT_EQ(wire::decimal_json(0.12345), "0.123");
  EXPECT_EQ(wire::decimal_json(std::nan("")), "0");
  EXPECT_EQ(wire::decimal_json(HUGE_VAL), "0");
}

}  // namespace
}  // namespace corral::observe
