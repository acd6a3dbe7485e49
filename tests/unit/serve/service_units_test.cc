// The texts of the units, and that the examples are the same texts.
#include "serve/service_units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace corral::serve {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string example(const std::string& name) {
  std::ifstream stream(std::string(EXAMPLES_DIR) + "/systemd/" + name);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(ServiceUnits, AreTheExamplesAsWell) {
  EXPECT_THAT(example("corral.service"), EndsWith(service_unit_body("%h/.local/bin/corral serve", "")));
  EXPECT_EQ(example("corral.socket"), socket_unit_body(std::nullopt));
}

TEST(ServiceUnits, NameTheProgramThePathAndThePort) {
  const UnitFacts facts{"/opt/my tools/corral", "/usr/bin:/home/me/100%/bin", "/etc/c.json", 8765};

  EXPECT_THAT(service_unit(facts),
              AllOf(HasSubstr("\nExecStart=\"/opt/my tools/corral\" serve --config /etc/c.json\n"),
                    HasSubstr("\nEnvironment=PATH=/usr/bin:/home/me/100%%/bin\n")));
  EXPECT_THAT(socket_unit(facts), HasSubstr("\nListenStream=127.0.0.1:8765\n"));
}

TEST(ServiceUnits, OpenNoPortUnlessTheyAreAskedTo) {
  EXPECT_THAT(socket_unit({"/c", "", "", std::nullopt}), Not(HasSubstr("127.0.0.1")));
}

TEST(ServiceUnits, CarryAMark) {
  const UnitFacts facts{"/c", "", "", std::nullopt};
  EXPECT_TRUE(has_unit_mark(service_unit(facts)));
  EXPECT_TRUE(has_unit_mark(socket_unit(facts)));
  EXPECT_TRUE(has_unit_mark(launchd_agent(facts)));
  EXPECT_FALSE(has_unit_mark(example("corral.service")));
  EXPECT_FALSE(has_unit_mark(""));
}

TEST(ServiceUnits, QuoteWhatTheManagerWouldRead) {
  EXPECT_EQ(systemd_word("/usr/bin/corral"), "/usr/bin/corral");
  EXPECT_EQ(systemd_word("/a b"), "\"/a b\"");
  EXPECT_EQ(systemd_word("/a\"\\b"), "\"/a\\\"\\\\b\"");
  EXPECT_EQ(systemd_word("/100%/$HOME"), "\"/100%%/$$HOME\"");
  EXPECT_EQ(systemd_word(""), "\"\"");
}

TEST(LaunchdAgent, QuotesWhatXmlWouldRead) {
  EXPECT_THAT(launchd_agent({"/a&b/<c>", "", "", 1}),
              AllOf(StartsWith("<?xml"), HasSubstr("<string>/a&amp;b/&lt;c&gt;</string>"),
                    HasSubstr("<string>--port</string>\n    <string>1</string>")));
}

}  // namespace
}  // namespace corral::serve
