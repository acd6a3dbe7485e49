// What is reported when a client, or somebody else, changes what corral wrote: once for each change.
#include "adopt/drift_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adopt/adoption.h"
#include "survey/temp_files.h"

namespace corral::adopt {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kTwo =
    R"({"mcpServers": {"a": {"command": "x", "args": ["1"]}, "b": {"command": "y"}}})";

class AdoptDriftWatch : public survey::TempFiles {
 protected:
  AdoptDriftWatch() { write("home/.cursor/mcp.json", kTwo); }
  void adopt() const {
    for (const ClientFile& file : find_files({root() + "/home", {}, {}}, {})) {
      const FileLook look = look_at(file, Through::Connect);
      Adopting adopting{file, {}, Through::Connect, "/usr/bin/corral"};
      for (const FoundServer& server : look.servers) {
        if (server.judged.verdict == Verdict::Wrap)
          adopting.servers.push_back({server.entry.keys, server.hash});
      }
      if (!adopting.servers.empty()) adopt_file(adopting, {root() + "/state", 0, {}});
    }
  }
  std::string file() const { return root() + "/home/.cursor/mcp.json"; }
  std::vector<std::string> look() {
    std::vector<std::string> found;
    for (const Drifted& one : watch_.look()) {
      EXPECT_EQ(one.client, "cursor");
      EXPECT_EQ(one.file, file());
      found.push_back(one.server + " " + name_of(one.standing));
    }
    return found;
  }

  DriftWatch watch_{root() + "/state"};
};

TEST_F(AdoptDriftWatch, NothingWasAdopted) { EXPECT_THAT(look(), IsEmpty()); }

TEST_F(AdoptDriftWatch, WhatIsAsCorralWroteItIsNotReported) {
  adopt();
  EXPECT_THAT(look(), IsEmpty());
  EXPECT_THAT(look(), IsEmpty());
}

TEST_F(AdoptDriftWatch, AnEntryThatIsPutBackIsToldOnce) {
  EXPECT_THAT(look(), IsEmpty());
  adopt();
  EXPECT_THAT(look(), IsEmpty());
  write("home/.cursor/mcp.json", kTwo);
  EXPECT_THAT(look(), ElementsAre("a undone", "b undone"));
  EXPECT_THAT(look(), IsEmpty());
  write("home/.cursor/mcp.json", std::string(kTwo) + "\n");
  EXPECT_THAT(look(), IsEmpty()) << "it was written again, with the same entries";
}

TEST_F(AdoptDriftWatch, EachFurtherChangeIsToldOnce) {
  adopt();
  write("home/.cursor/mcp.json", kTwo);
  EXPECT_THAT(look(), SizeIs(2));
  write("home/.cursor/mcp.json", R"({"mcpServers": {"a": {"command": "z"}}})");
  EXPECT_THAT(look(), ElementsAre("a replaced", "b gone"));
  EXPECT_THAT(look(), IsEmpty());
}

TEST_F(AdoptDriftWatch, AfterItIsAdoptedAgainTheNextChangeIsNews) {
  adopt();
  write("home/.cursor/mcp.json", kTwo);
  EXPECT_THAT(look(), SizeIs(2));
  adopt();
  EXPECT_THAT(look(), IsEmpty());
  write("home/.cursor/mcp.json", kTwo);
  EXPECT_THAT(look(), SizeIs(2));
}

TEST_F(AdoptDriftWatch, WhatHappenedBeforeTheFirstLookIsToldAsWell) {
  adopt();
  write("home/.cursor/mcp.json", kTwo);
  EXPECT_THAT(look(), SizeIs(2));
}

TEST_F(AdoptDriftWatch, AReleaseIsNotReported) {
  adopt();
  EXPECT_THAT(look(), IsEmpty());
  release_file(file(), {}, {root() + "/state", 0, {}});
  EXPECT_THAT(look(), IsEmpty());
}

TEST_F(AdoptDriftWatch, AFileThatCannotBeReadIsLookedAtAgain) {
  adopt();
  write("home/.cursor/mcp.json", "{\"mcpServers\": ");
  EXPECT_THAT(look(), IsEmpty());
  write("home/.cursor/mcp.json", kTwo);
  EXPECT_THAT(look(), SizeIs(2));
}

TEST_F(AdoptDriftWatch, ABrokenLedgerSaysNothing) {
  adopt();
  EXPECT_THAT(look(), IsEmpty());
  write("state/adopted.json", "{");
  write("home/.cursor/mcp.json", kTwo);
  EXPECT_THAT(look(), SizeIs(2)) << "by what was read before";
}

}  // namespace
}  // namespace corral::adopt
