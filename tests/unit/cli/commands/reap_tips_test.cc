#include "cli/commands/reap_tips.h"

#include <gtest/gtest.h>

#include <sstream>

#include "survey/scene.h"

namespace corral::cli {
namespace {

constexpr pid_t kServer = 50;

std::string why_kept(const survey::Scene& scene) {
  const survey::Survey survey = scene.judged();
  const survey::Server* const server = survey::server_at(survey, kServer);
  return server == nullptr ? "not found" : cli::why_kept(*server, Leaked::No, {});
}

TEST(WhyKept, PossibleServersAreIncludedByAnOption) {
  survey::Scene scene;
  scene.process(kServer, 1, {"mcp-server-foo"});
  scene.strand(kServer);
  EXPECT_NE(why_kept(scene).find("--possible includes them"), std::string::npos);
}

TEST(WhyKept, ServersWithOtherArgumentsAreNotSaidToBeIncludedByAnOption) {
  survey::Scene scene;
  scene.process(kServer, 1, {"node"});
  scene.make_mcp_package(kServer, "@x/files-mcp");
  scene.strand(kServer);
  scene.command(kServer).arguments = {"projectA"};
  scene.configure("codex", "files", "npm:@x/files-mcp", {"projectB"});

  const std::string why = why_kept(scene);
  EXPECT_NE(why.find("arguments other than those in a configuration"), std::string::npos) << why;
  EXPECT_EQ(why.find("--possible"), std::string::npos) << why;
}

std::string tips_after(reap::Outcome::Kind kind) {
  std::ostringstream out;
  Page page(out, TerminalStyle{200, true, false});
  show_tips(page, {}, {}, {reap::Group{}}, {{7, {{7, "node", kind, 0}}}});
  return out.str();
}

TEST(Tips, FitWhatBecameOfTheProcesses) {
  using Kind = reap::Outcome::Kind;
  EXPECT_NE(tips_after(Kind::NoPermission).find("sudo -u USER"), std::string::npos);
  EXPECT_NE(tips_after(Kind::OtherUser).find("sudo -u USER"), std::string::npos);
  EXPECT_NE(tips_after(Kind::Uninterruptible).find("state D"), std::string::npos);
  EXPECT_EQ(tips_after(Kind::AlreadyGone).find("sudo"), std::string::npos);
  EXPECT_EQ(tips_after(Kind::AlreadyGone).find("state D"), std::string::npos);
}

}  // namespace
}  // namespace corral::cli
