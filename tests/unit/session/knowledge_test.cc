// What is remembered of a server, and when it is looked at again.
#include "session/known_server.h"

namespace corral::tests {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

std::string list_request(const std::string& method) {
  return R"({"jsonrpc":"2.0","id":"l","method":")" + method + "\"}";
}

struct ListResult {
  const char* method;
  const char* result;
};
constexpr std::array<ListResult, 4> kAllLists = {
    {{"tools/list", R"({"tools":[]})"},
     {"prompts/list", R"({"prompts":[]})"},
     {"resources/list", R"({"resources":[]})"},
     {"resources/templates/list", R"({"resourceTemplates":[]})"}}};

class Remembered : public Lazy {
 protected:
  /// A session that has listed everything, and heard that something changed.
  void list_all_and_hear(const std::string& change) {
    FakeClient& client = exchange.ready_client(R"({"tools":{},"prompts":{},"resources":{}})");
    for (const ListResult& list : kAllLists) {
      client.say(list_request(list.method));
      exchange.settle();
      answer(exchange.server(), list.result);
    }
    exchange.server().say(R"({"jsonrpc":"2.0","method":"notifications/)" + change + "\"}");
    exchange.settle();
    client.session.end(session::EndReason::InputClosed);
    exchange.pool.retire("files", pool::Cause::Restarted, [](const auto&) {});
    exchange.settle();
    exchange.server().exit(0);
    exchange.settle();
  }
  /// The methods of the lists that are told without a process.
  std::vector<std::string> known() {
    std::vector<std::string> methods;
    for (const ListResult& list : kAllLists) {
      FakeClient& client = attach();
      client.heard();
      client.say(list_request(list.method));
      if (!client.heard().empty()) methods.emplace_back(list.method);
      client.session.end(session::EndReason::ClientGone);
      exchange.settle();
    }
    return methods;
  }
};

TEST_F(Remembered, EveryListIsUntilTheServerSaysThatItChanged) {
  list_all_and_hear("message");
  EXPECT_THAT(known(),
              ElementsAre("tools/list", "prompts/list", "resources/list", "resources/templates/list"));
}

TEST_F(Remembered, AChangeOfResourcesIsOneOfTheirTemplatesToo) {
  list_all_and_hear("resources/list_changed");
  EXPECT_THAT(known(), ElementsAre("tools/list", "prompts/list")) << "and of nothing else";
}

TEST_F(Remembered, AChangeOfPromptsConcernsNoOtherList) {
  list_all_and_hear("prompts/list_changed");
  EXPECT_THAT(known(), ElementsAre("tools/list", "resources/list", "resources/templates/list"));
}

TEST_F(Lazy, TheFilesOfARunningServerAreLookedAtEveryThirtySeconds) {
  const auto stale = [this] { return !exchange.pool.slots().front().run().stale().empty(); };
  exchange.ready_client();
  exchange.clock.pass(seconds(30));
  exchange.settle();
  EXPECT_FALSE(stale());
  write_script("another text");
  exchange.clock.pass(milliseconds(29'999));
  exchange.settle();
  EXPECT_FALSE(stale());
  exchange.clock.pass(milliseconds(1));
  exchange.settle();
  EXPECT_TRUE(stale()) << "the second look";
}

TEST_F(Lazy, AnInstanceThatNobodyUsesGoesByItselfWhenItsFilesChange) {
  FakeClient& client = exchange.ready_client();
  client.session.end(session::EndReason::InputClosed);
  exchange.settle();
  write_script("another text");
  exchange.clock.pass(seconds(30));
  exchange.settle();
  EXPECT_TRUE(exchange.server().input_closed());
}

TEST_F(Lazy, ASessionThatJoinsAnInstanceWithOldCodeIsTold) {
  exchange.spec->entry.on_change = config::OnChange::Warn;
  exchange.ready_client();
  write_script("another text");
  exchange.pool.look_at_code();
  FakeClient& second = attach();
  EXPECT_THAT(second.notes, ElementsAre("server files runs old code: " + folder +
                                        "/script has changed; `corral restart files` runs the new code"));
}

TEST_F(Lazy, ASharedInstanceOfOldCodeThatItsLastSessionLeavesGoesAtOnce) {
  FakeClient& client = exchange.ready_client();
  write_script("another text");
  exchange.pool.look_at_code();
  exchange.settle();
  EXPECT_FALSE(exchange.server().input_closed()) << "its session finishes on it";
  client.session.end(session::EndReason::InputClosed);
  exchange.settle();
  EXPECT_TRUE(exchange.server().input_closed());
}

}  // namespace
}  // namespace corral::tests
