#include "config/changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace corral::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

Server server(const std::string& name) {
  Server result;
  result.name = name;
  result.argv = {"x", "-y"};
  result.env = {{"A", "1"}, {"B", "2"}};
  result.tools = std::vector<std::string>{"read", "list"};
  result.deny = {"delete_*", "drop"};
  return result;
}

Configuration with(std::vector<Server> servers) {
  Configuration result;
  result.servers = std::move(servers);
  return result;
}

TEST(Changes, AreNoneBetweenAFileAndItself) {
  const Configuration file = with({server("a"), server("b")});

  const Changes found = changes(file, file);

  EXPECT_THAT(found.added, IsEmpty());
  EXPECT_THAT(found.removed, IsEmpty());
  EXPECT_THAT(found.changed, IsEmpty());
}

TEST(Changes, TellWhetherTheHttpListenerChanged) {
  Configuration other = with({server("a")});
  other.options.http.port = 8765;

  EXPECT_TRUE(changes(with({server("a")}), other).http);
  EXPECT_FALSE(changes(other, other).http);
  EXPECT_THAT(changes(with({server("a")}), other).changed, IsEmpty());
}

TEST(Changes, NameWhatCameWhatWentAndWhatIsOtherwise) {
  Server other = server("b");
  other.argv = {"z"};

  const Changes found = changes(with({server("gone"), server("a"), server("b"), server("left")}),
                                with({server("new"), other, server("a"), server("fresh")}));

  EXPECT_THAT(found.added, ElementsAre("new", "fresh"));
  EXPECT_THAT(found.removed, ElementsAre("gone", "left"));
  EXPECT_THAT(found.changed, ElementsAre("b"));
}

TEST(Changes, DoNotCountTheOrderOrTheLineOfAServer) {
  Server moved = server("a");
  moved.line = 40;
  std::swap(moved.env[0], moved.env[1]);
  std::swap(moved.tools->front(), moved.tools->back());
  std::swap(moved.deny.front(), moved.deny.back());

  const Changes found = changes(with({server("a"), server("b")}), with({server("b"), moved}));

  EXPECT_THAT(found.added, IsEmpty());
  EXPECT_THAT(found.removed, IsEmpty());
  EXPECT_THAT(found.changed, IsEmpty());
}

TEST(Changes, CountEveryOtherFieldOfAServer) {
  const std::vector<std::function<void(Server&)>> edits = {
      [](Server& s) { s.argv.emplace_back("more"); },
      [](Server& s) { std::swap(s.argv[0], s.argv[1]); },
      [](Server& s) { s.env[0].second = "3"; },
      [](Server& s) { s.cwd = "/"; },
      [](Server& s) { s.share = Share::Root; },
      [](Server& s) { s.disabled = true; },
      [](Server& s) { s.tools->pop_back(); },
      [](Server& s) { s.tools.reset(); },
      [](Server& s) { s.tools->clear(); },
      [](Server& s) { s.deny.pop_back(); },
      [](Server& s) { s.timeout = 1s; },
      [](Server& s) { s.containment = proc::Containment::Strict; },
      [](Server& s) { s.limits.memory_bytes = 1; },
      [](Server& s) { s.limits.processes = 1; },
      [](Server& s) { s.limits.cpu_thousandths = 1; },
      [](Server& s) { s.stdin_grace = 1s; },
      [](Server& s) { s.term_grace = 1s; },
      [](Server& s) { s.on_stop = "true"; },
      [](Server& s) { s.idle = 1s; },
      [](Server& s) { s.stateless = true; },
      [](Server& s) { s.restart = false; },
      [](Server& s) { s.park = false; },
      [](Server& s) { s.probe = 0s; },
      [](Server& s) { s.modern = false; },
      [](Server& s) { s.eager = true; },
      [](Server& s) { s.warm = 1; },
      [](Server& s) { s.on_change = OnChange::Warn; },
      [](Server& s) { s.roots = {"/srv"}; },
  };

  for (std::size_t i = 0; i < edits.size(); ++i) {
    Server edited = server("a");
    edits[i](edited);
    EXPECT_THAT(changes(with({server("a")}), with({edited})).changed, ElementsAre("a")) << "edit " << i;
  }
}

}  // namespace
}  // namespace corral::config
