#include <gtest/gtest.h>

#include "known/known_programs.h"
#include "survey/survey.h"

namespace corral::survey {
namespace {

Process running(const std::string& executable, const std::vector<std::string>& argv) {
  Process process;
  process.executable = executable;
  process.argv = argv;
  return process;
}

/// Some path parts hold others; what counts is that somebody is found, and by this fact.
bool is_found(const Process& process, const known::ServerCommand& command) {
  return recognise_client(process, command) != nullptr;
}

TEST(RecognisedClients, AreKnownByTheirProgramOrWhatItIsCalled) {
  for (const known::KnownClient& client : known::known_clients()) {
    for (const std::string_view name : client.executables) {
      const std::string path = "/opt/" + std::string(name);
      EXPECT_EQ(recognise_client(running(path, {"x"}), {}), &client) << name;
      EXPECT_EQ(recognise_client(running("/usr/bin/node", {path, "x"}), {}), &client) << name;
      EXPECT_EQ(recognise_client(running(path, {}), {}), &client) << name;
      EXPECT_FALSE(is_found(running("/opt/x-" + std::string(name) + "-x", {"x"}), {})) << name;
    }
  }
}

TEST(RecognisedClients, AreKnownByTheirPackage) {
  for (const known::KnownClient& client : known::known_clients()) {
    for (const std::string_view package : client.packages) {
      known::ServerCommand command;
      command.key = "npm:" + std::string(package);
      EXPECT_EQ(recognise_client(running("/usr/bin/node", {"node"}), command), &client) << package;
      command.launcher = "node";
      EXPECT_EQ(recognise_client(running("/usr/bin/node", {"node"}), command), &client) << package;
      command.key = "pypi:" + std::string(package);
      EXPECT_FALSE(is_found(running("/usr/bin/node", {"node"}), command)) << package;
      command.key = "xxxx" + std::string(package);
      EXPECT_FALSE(is_found(running("/usr/bin/node", {"node"}), command)) << package;
    }
  }
}

TEST(RecognisedClients, AreKnownByWhereTheyLive) {
  for (const known::KnownClient& client : known::known_clients()) {
    for (const std::string_view part : client.path_parts) {
      const std::string path = "/opt" + std::string(part) + "x";
      known::ServerCommand command;
      EXPECT_TRUE(is_found(running(path, {"x"}), command)) << part;
      command.script = path;
      EXPECT_TRUE(is_found(running("/usr/bin/node", {"node"}), command)) << part;
    }
  }
}

TEST(RecognisedClients, AreNotTheLaunchersThatStartThem) {
  for (const known::KnownClient& client : known::known_clients()) {
    for (const std::string_view package : client.packages) {
      known::ServerCommand command;
      command.key = "npm:" + std::string(package);
      command.launcher = "npx";
      EXPECT_FALSE(is_found(running("/usr/bin/node", {"npm"}), command)) << package;
    }
  }
}

TEST(RecognisedClients, AreNotEverybody) {
  EXPECT_FALSE(is_found(running("", {}), {}));
  EXPECT_FALSE(is_found(running("/usr/bin/vim", {"vim"}), {}));
}

TEST(EvidenceNames, AreThoseOfTheSchema) {
  using Kind = Evidence::Kind;
  EXPECT_STREQ(name_of(Kind::Tag), "tag");
  EXPECT_STREQ(name_of(Kind::Configuration), "configuration");
  EXPECT_STREQ(name_of(Kind::Pipe), "pipe");
  EXPECT_STREQ(name_of(Kind::Package), "package");
  EXPECT_STREQ(name_of(Kind::Parent), "parent");
  EXPECT_STREQ(name_of(Kind::Environment), "environment");
  EXPECT_STREQ(name_of(Kind::Cgroup), "cgroup");
  EXPECT_STREQ(name_of(Kind::Session), "session");
  EXPECT_STREQ(name_of(Kind::StartTime), "start-time");
  EXPECT_STREQ(name_of(Kind::Name), "name");
  EXPECT_STREQ(name_of(Kind::Socket), "socket");
}

}  // namespace
}  // namespace corral::survey
