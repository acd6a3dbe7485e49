// `corral version -v`: what a report of a fault has to say about the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/version.hpp>

#include "base/files.h"
#include "cli/commands/build_facts.h"
#include "cli/frame/command.h"
#include "cli/screen/json_view.h"
#include "cli/told_daemon.h"
#include "control/hello.h"
#include "registry/sqlite.h"
#include "version.h"
#include "wire/revisions.h"

namespace corral::cli {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

boost::json::value facts_of(const proc::Levels& levels) { return build_facts(levels); }

TEST(BuildFacts, BeginWithWhatTheShortAnswerHas) {
  const boost::json::value facts = facts_of({});

  EXPECT_EQ(text(facts, "version"), kVersion);
  EXPECT_EQ(text(facts, "build"), kBuildDate);
  EXPECT_THAT(text(facts, "compiler"), MatchesRegex("(g\\+\\+|clang) [0-9]+\\.[0-9]+\\.[0-9]+.*"));
}

TEST(BuildFacts, NameEachLibraryWithItsVersion) {
  const boost::json::value facts = facts_of({});

  const boost::json::object& libraries = facts.at("libraries").as_object();
  ASSERT_EQ(libraries.size(), 7U);
  for (const auto& [name, version] : libraries)
    EXPECT_THAT(std::string(version.as_string()), MatchesRegex("[0-9]+(\\.[0-9]+)+")) << name;
  EXPECT_EQ(text(facts.at("libraries"), "sqlite"), registry::sqlite_version());
  std::string boost = BOOST_LIB_VERSION;  // "1_81"
  boost.replace(boost.find('_'), 1, ".");
  EXPECT_THAT(text(facts.at("libraries"), "boost"), StartsWith(boost));
}

TEST(BuildFacts, SayHowTheProgramIsLinked) {
  const std::string maps = read_text("/proc/self/maps");

  const boost::json::value facts = facts_of({});

  EXPECT_EQ(text(facts.at("program"), "linked"),
            maps.find("/ld-linux") == std::string::npos ? "static" : "dynamic");
  EXPECT_TRUE(facts.at("program").at("hardening").is_array());
}

TEST(BuildFacts, NameWhatIsSpoken) {
  const boost::json::value facts = facts_of({});

  const boost::json::value& features = facts.at("features");
  EXPECT_EQ(features.at("protocol").at("oldest").as_int64(), control::kOldestProtocol);
  EXPECT_EQ(features.at("protocol").at("newest").as_int64(), control::kProtocol);
  ASSERT_EQ(list(features, "revisions").size(), wire::kRevisions.size());
  EXPECT_EQ(list(features, "revisions").front().as_string(), wire::kRevisions.front().date);
  EXPECT_EQ(list(features, "revisions").back().as_string(), wire::kRevisions.back().date);
}

TEST(BuildFacts, TellWhatTheKernelOffers) {
  const boost::json::value all = facts_of({true, true, true, ""});
  const boost::json::value none = facts_of({false, false, false, "the kernel refuses"});

  EXPECT_EQ(boost::json::serialize(all.at("features").at("containment")),
            R"({"auto":"cgroup","controllers":true,"strict":true,"why_not_strict":null})");
  EXPECT_EQ(boost::json::serialize(none.at("features").at("containment")),
            R"({"auto":"keeper","controllers":false,"strict":false,"why_not_strict":"the kernel refuses"})");
}

TEST(VersionCommand, SaysEverythingWithVerbose) {
  const Seen seen = run_command({"version", "-v"});

  EXPECT_EQ(seen.code, 0) << seen.errors;
  EXPECT_THAT(seen.out, StartsWith(std::string("corral ") + kVersion + " (build " + kBuildDate + ")\n"));
  for (const char* const label :
       {"\ncompiler ", "\nprogram ", "\nlibraries ", "\nprotocol ", "\nMCP ", "\ncontainment "})
    EXPECT_THAT(seen.out, HasSubstr(label));
  EXPECT_THAT(seen.out, HasSubstr("sqlite " + registry::sqlite_version() + " (" +
                                  text(facts_of({}).at("program"), "sqlite") + ")"));
}

TEST(VersionCommand, IsAnOptionToo) {
  const Seen json = run_command({"--version", "-v", "--json"});

  EXPECT_EQ(json.code, 0) << json.errors;
  EXPECT_EQ(text(boost::json::parse(json.out), "version"), kVersion);
  EXPECT_TRUE(boost::json::parse(json.out).as_object().contains("features"));
  EXPECT_EQ(run_command({"--version", "--json"}).out, run_command({"version", "--json"}).out);
}

TEST(VersionCommand, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(run_command({"--version", "--loud"}).code, kOwnFailure);
  EXPECT_THAT(run_command({"--version", "--loud"}).errors, HasSubstr("unknown option '--loud'"));
  EXPECT_EQ(run_command({"--version", "ps"}).code, kOwnFailure);
}

}  // namespace
}  // namespace corral::cli
