// What the daemon writes is what the command line reads back: for every member of the status, and also where
// the two are of different versions.
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <set>

#include "observe/status_schema.h"
#include "observe/views.h"

namespace corral::observe {
namespace {

namespace json = boost::json;

/// Gives every member that it is called with another value, each of them different from an empty one.
class Filler {
 public:
  template <class T>
  void operator()(std::string_view name, T& member) {
    EXPECT_TRUE(names_.insert(std::string(name)).second) << name << " is listed twice in one object";
    fill(member);
  }
  void or_null(std::string_view name, auto& member) { (*this)(name, member); }
  void unless_empty(std::string_view name, auto& member) { (*this)(name, member); }
  void either(std::string_view /*name*/, bool& flag, std::string_view /*yes*/, std::string_view /*no*/) {
    flag = false;
  }

 private:
  template <class T>
  static void fill(T& member) {
    static int next = 1000;
    ++next;
    if constexpr (std::is_same_v<T, std::string>) {
      member = "text " + std::to_string(next);
    } else if constexpr (std::is_same_v<T, About>) {
      member = {{"text " + std::to_string(next), "value " + std::to_string(next)}};
    } else if constexpr (std::is_same_v<T, bool>) {
      member = true;
    } else if constexpr (std::is_same_v<T, double>) {
      member = next + 0.125;
    } else if constexpr (std::is_integral_v<T> || std::is_same_v<T, milliseconds>) {
      member = T(next);
    } else if constexpr (kIsOptional<T>) {
      fill(member.emplace());
    } else if constexpr (kIsList<T>) {
      fill(member.emplace_back());
      fill(member.emplace_back());
    } else {
      Filler filler;
      fields(filler, member);
    }
  }

  std::set<std::string> names_;
};

Snapshot full_snapshot() {
  Snapshot snapshot;
  Filler filler;
  fields(filler, snapshot);
  return snapshot;
}

Snapshot read_back(const Snapshot& snapshot) { return read_status(parsed(status_json(snapshot))); }

TEST(StatusReader, ReadsEveryMemberThatTheDaemonWrites) {
  const Snapshot full = full_snapshot();
  ASSERT_EQ(full.instances.size(), 2U);
  ASSERT_NE(full.instances[0].usage->processes[0].age, full.instances[1].usage->processes[1].age);

  EXPECT_EQ(read_back(full), full);
}

TEST(StatusReader, ReadsAnEmptyStatusAsEmpty) {
  const Snapshot empty;

  EXPECT_EQ(read_back(empty), empty);
}

TEST(StatusReader, ReadsSessionObjectsFromTheirOwnAnswer) {
  const Snapshot full = full_snapshot();

  EXPECT_EQ(read_session_objects(parsed(session_objects_json(full.objects))), full.objects);
  EXPECT_TRUE(read_session_objects(json::value()).empty());
}

TEST(StatusReader, KnowsThatAnOlderDaemonDidNotSayAMember) {
  const Snapshot status = read_status(
      parsed(R"({"instances":[{"server":"files"}],"sessions":[{"id":3,"client":{"name":"codex"}}]})"));

  EXPECT_FALSE(status.daemon.uptime);
  ASSERT_EQ(status.instances.size(), 1U);
  EXPECT_EQ(status.instances[0].server, "files");
  EXPECT_FALSE(status.instances[0].uptime);
  EXPECT_FALSE(status.instances[0].calls);
  EXPECT_FALSE(status.instances[0].usage);
  EXPECT_TRUE(status.instances[0].limits.empty());
  EXPECT_FALSE(status.sessions.at(0).client.pid);
  EXPECT_TRUE(status.health.healthy) << "it did not say that it is degraded";
}

TEST(StatusReader, IgnoresWhatANewerDaemonAdds) {
  const Snapshot status = read_status(parsed(
      R"({"weather":"fine","servers":[{"name":"files","colour":7,"stopped":true}],"health":{"status":"odd"}})"));

  ASSERT_EQ(status.servers.size(), 1U);
  EXPECT_EQ(status.servers[0].name, "files");
  EXPECT_TRUE(status.servers[0].stopped);
  EXPECT_TRUE(status.health.healthy);
}

TEST(StatusReader, TakesNothingThatIsOfAWrongTypeOrOutOfRange) {
  const Snapshot status = read_status(parsed(
      R"({"daemon":[],"servers":7,"instances":[null,{"pid":-4,"keeper":1e99,"state":5,"rolls":"yes","calls":1.5,)"
      R"("uptime_ms":18446744073709551615,"limits":"none","usage":{"cpu":-3,"memory":"much","processes":{}}}]})"));

  EXPECT_TRUE(status.servers.empty());
  ASSERT_EQ(status.instances.size(), 2U) << "the list keeps its length";
  const InstanceView& instance = status.instances[1];
  EXPECT_EQ(instance.pid, 0);
  EXPECT_EQ(instance.keeper, 0);
  EXPECT_EQ(instance.state, "");
  EXPECT_FALSE(instance.rolls);
  EXPECT_FALSE(instance.calls);
  EXPECT_LE(*instance.uptime, std::chrono::hours(24 * 366 * 1000));
  ASSERT_TRUE(instance.usage);
  EXPECT_FALSE(instance.usage->cpu);
  EXPECT_FALSE(instance.usage->memory);
  EXPECT_TRUE(instance.usage->processes.empty());
}

TEST(StatusReader, MakesEveryTextSafeForATerminal) {
  Snapshot snapshot = some_snapshot();
  snapshot.instances[0].reason = "\x1b[2Jgone\nnext";
  snapshot.sessions[0].client.name = std::string(5000, 'n');

  const Snapshot status = read_back(snapshot);

  EXPECT_EQ(status.instances[0].reason.find_first_of("\x1b\n"), std::string::npos);
  EXPECT_EQ(status.sessions[0].client.name, std::string(4096, 'n'));
}

TEST(RefusingState, NamesAServerThatIsStoppedOrDiedTooOften) {
  EXPECT_EQ(refusing_state({.name = "files"}), "");
  EXPECT_EQ(refusing_state({.name = "files", .broken = "it died"}), "broken");
  EXPECT_EQ(refusing_state({.name = "files", .stopped = true, .broken = "it died"}), "stopped");
}

}  // namespace
}  // namespace corral::observe
