// When the files of a server change, new sessions get the new code, and what was known is dropped.
#include "session/known_server.h"

namespace corral::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST_F(Lazy, NewSessionsGetNewCodeAndOldOnesFinishOnTheOld) {
  FakeClient& old = exchange.ready_client();
  write_script("another text");

  FakeClient& fresh = exchange.connect();
  fresh.say(kInitialize);
  exchange.settle();

  ASSERT_EQ(exchange.started(), 2U);
  ASSERT_TRUE(exchange.answer_handshake(exchange.server(1)));
  old.say(kCall);
  exchange.settle();
  EXPECT_THAT(exchange.server(0).heard(), ElementsAre(HasSubstr("tools/call")));
  old.session.end(session::EndReason::InputClosed);
  ASSERT_TRUE(exchange.until([&] { return exchange.server(0).input_closed(); }))
      << "nobody needs it any more";
  exchange.server(0).exit(0);
  exchange.settle();
  EXPECT_EQ(exchange.pool.living(), 1U);
}

TEST_F(LazyPrivate, AnInstanceOfOldCodeTeachesNothingAboutTheNew) {
  FakeClient& old = exchange.ready_client(R"({"tools":{}})");
  write_script("another text");
  FakeClient& fresh = exchange.ready_client(R"({"tools":{}})");
  fresh.say(kList);
  exchange.settle();
  answer(exchange.server(1), R"({"tools":[{"name":"new"}]})");

  old.say(kList);
  exchange.settle();
  answer(exchange.server(0), kTools);

  FakeClient& next = attach();
  next.say(kList);
  exchange.settle();
  EXPECT_THAT(next.heard(), testing::Contains(HasSubstr(R"("name":"new")")));
}

TEST_F(Lazy, AnUnusedInstanceOfOldCodeGoesAtTheNextLook) {
  FakeClient& client = exchange.ready_client();
  client.session.end(session::EndReason::InputClosed);
  exchange.settle();
  write_script("another text");
  exchange.pool.look_at_code();
  exchange.settle();
  EXPECT_TRUE(exchange.server().input_closed());
}

TEST_F(Lazy, ASessionThatWaitsForAnInstanceWithOldCodeIsNotForgotten) {
  FakeClient& moved = exchange.ready_client();
  const auto other = std::make_shared<pool::ServerSpec>(*exchange.spec);
  other->server = "others";
  other->launch.argv = {"/bin/other-server"};
  exchange.spec = other;
  exchange.ready_client();
  ASSERT_EQ(exchange.started(), 2U);
  moved.session.attachment().redefine(other);
  exchange.pool.retire("files", pool::Cause::Reloaded, [](const auto&) {});
  exchange.settle();
  ASSERT_STREQ(moved.session.attachment().state(), "returning") << "until its last server is gone";

  write_script("another text");
  exchange.pool.look_at_code();
  exchange.server(0).exit(0);
  exchange.settle();
  EXPECT_STREQ(moved.session.attachment().state(), "ready");
}

TEST_F(Lazy, OnChangeWarnGoesOnWithTheOldCode) {
  exchange.spec->entry.on_change = config::OnChange::Warn;
  exchange.ready_client();
  write_script("another text");
  FakeClient& second = attach();
  EXPECT_EQ(exchange.started(), 1U);
  EXPECT_THAT(second.heard(), SizeIs(1));
  EXPECT_THAT(exchange.pool.slots().front().run().stale(), HasSubstr("script has changed"));
}

TEST_F(Lazy, OnChangeIgnoreDoesNotLook) {
  exchange.spec->entry.on_change = config::OnChange::Ignore;
  exchange.ready_client();
  write_script("another text");
  attach();
  exchange.pool.look_at_code();
  EXPECT_EQ(exchange.started(), 1U);
  EXPECT_THAT(exchange.pool.slots().front().run().stale(), IsEmpty());
}

}  // namespace
}  // namespace corral::tests
