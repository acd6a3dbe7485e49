#include "knowledge/launch_key.h"

#include <gtest/gtest.h>

#include <set>

namespace corral::knowledge {
namespace {

proc::LaunchSpec usual() {
  proc::LaunchSpec spec;
  spec.argv = {"npx", "-y", "server"};
  spec.environment = {"HOME=/h", "PATH=/bin"};
  spec.directory = "/srv";
  return spec;
}

template <class Change>
proc::LaunchSpec changed(Change change) {
  proc::LaunchSpec spec = usual();
  change(spec);
  return spec;
}

TEST(LaunchKey, DiffersInEverythingThatMatters) {
  using Spec = proc::LaunchSpec;
  const std::vector<Spec> specs = {
      usual(),
      changed([](Spec& s) { s.argv.clear(); }),
      changed([](Spec& s) {
        s.argv = {"npx", "-y server"};
      }),
      changed([](Spec& s) {
        s.argv = {"npx", "-y", "server", ""};
      }),
      changed([](Spec& s) {
        s.argv = {"npx", "", "-y", "server"};
      }),
      changed([](Spec& s) {
        s.argv = {"npx", "-y", std::string("server\0", 7)};
      }),
      changed([](Spec& s) {
        s.argv = {"npx", "-y", "server6:/srv"};
      }),
      changed([](Spec& s) { s.directory = "/srv/"; }),
      changed([](Spec& s) { s.directory = ""; }),
      changed([](Spec& s) { s.environment.clear(); }),
      changed([](Spec& s) { s.environment = {"HOME=/h"}; }),
      changed([](Spec& s) {
        s.environment = {"HOME=/h", "PATH=/bin", "A="};
      }),
      changed([](Spec& s) { s.environment = {"HOME=/h\nPATH=/bin"}; }),
      changed([](Spec& s) {
        s.environment = {"HOME=/h", "PATH=/bin2"};
      }),
      changed([](Spec& s) {
        s.environment = {"HOME=/h", "PATH=1", "PATH=2"};
      }),
      changed([](Spec& s) {
        s.environment = {"HOME=/h", "PATH=2", "PATH=1"};
      }),
      changed([](Spec& s) { s.containment = proc::Containment::Basic; }),
      changed([](Spec& s) { s.containment = proc::Containment::Strict; }),
      changed([](Spec& s) { s.limits.memory_bytes = 0; }),
      changed([](Spec& s) { s.limits.memory_bytes = 100; }),
      changed([](Spec& s) { s.limits.processes = 100; }),
      changed([](Spec& s) { s.limits.cpu_thousandths = 100; }),
      changed([](Spec& s) { s.stdin_grace = std::chrono::milliseconds(1); }),
      changed([](Spec& s) { s.term_grace = std::chrono::milliseconds(1); }),
      changed([](Spec& s) { s.kill_grace = std::chrono::milliseconds(1); }),
      changed([](Spec& s) { s.on_stop = "true"; }),
  };
  std::set<std::string> keys;
  for (const Spec& spec : specs) keys.insert(launch_key(spec));

  EXPECT_EQ(keys.size(), specs.size());
}

TEST(LaunchKey, DoesNotMoveTextFromOnePartToTheNext) {
  proc::LaunchSpec one;
  proc::LaunchSpec two;
  one.argv = {"a", "b"};
  one.directory = "c";
  two.argv = {"a"};
  two.directory = "b";
  two.environment = {"c"};
  EXPECT_NE(launch_key(one), launch_key(two));

  one = two = {};
  one.argv = {"1:a"};
  two.argv = {"1", "a"};
  EXPECT_NE(launch_key(one), launch_key(two));
}

TEST(LaunchKey, IgnoresDescriptorsAndTheOrderOfVariables) {
  proc::LaunchSpec other = usual();
  other.environment = {"PATH=/bin", "HOME=/h"};
  other.input = 7;
  other.output = 8;
  other.error = 9;
  other.report = 10;

  EXPECT_EQ(launch_key(other), launch_key(usual()));
}

}  // namespace
}  // namespace corral::knowledge
