#include "observe/event_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace corral::observe {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class EventReaderTest : public testing::Test {
 protected:
  void tell(const std::string& server) {
    events::Event event;
    event.kind = events::Kind::Spawn;
    event.server = server;
    stream.tell(std::move(event));
  }
  void read(std::uint64_t after, std::size_t limit, std::chrono::milliseconds wait) {
    reader.read({after, limit, wait}, [this](const std::string& json) { answers.push_back(json); });
  }
  static std::vector<std::string> servers(const std::string& answer) {
    std::vector<std::string> names;
    const boost::json::value value = boost::json::parse(answer);
    for (const auto& event : value.at("events").as_array())
      names.emplace_back(event.at("server").as_string());
    return names;
  }
  static std::int64_t next(const std::string& answer) {
    return boost::json::parse(answer).at("next").as_int64();
  }

  Loop loop;
  events::Stream stream;
  EventReader reader{loop, stream, nullptr};
  std::vector<std::string> answers;
};

TEST_F(EventReaderTest, GivesWhatIsThereAtOnceWithWhereToGoOn) {
  for (const char* server : {"a", "b", "c"}) tell(server);

  read(0, 2, std::chrono::seconds(60));
  ASSERT_THAT(answers, SizeIs(1));
  EXPECT_THAT(servers(answers[0]), ElementsAre("a", "b"));
  EXPECT_EQ(next(answers[0]), 2);

  read(2, 2, std::chrono::milliseconds(0));
  EXPECT_THAT(servers(answers.at(1)), ElementsAre("c"));
  EXPECT_EQ(next(answers[1]), 3);

  read(3, 2, std::chrono::milliseconds(0));
  EXPECT_THAT(servers(answers.at(2)), IsEmpty());
  EXPECT_EQ(next(answers[2]), 3);
}

TEST_F(EventReaderTest, WaitsForTheFirstAndGivesWhatWasToldTogether) {
  tell("a");
  read(1, 10, std::chrono::seconds(60));
  loop.run_due();
  EXPECT_THAT(answers, IsEmpty());

  tell("b");
  tell("c");
  EXPECT_THAT(answers, IsEmpty()) << "not from within `tell`";
  loop.run_due();

  ASSERT_THAT(answers, SizeIs(1));
  EXPECT_THAT(servers(answers[0]), ElementsAre("b", "c"));
}

TEST_F(EventReaderTest, SetsRightWhoKnowsNumbersThatWereLost) {
  tell("a");

  read(500, 10, std::chrono::seconds(60));

  ASSERT_THAT(answers, SizeIs(1));
  EXPECT_THAT(servers(answers[0]), IsEmpty());
  EXPECT_EQ(next(answers[0]), 1);
}

TEST_F(EventReaderTest, KeepsNoMoreThanSoManyWaiting) {
  for (int i = 0; i < 257; ++i) read(0, 10, std::chrono::seconds(60));

  EXPECT_THAT(answers, SizeIs(1));
  tell("a");
  loop.run_due();
  EXPECT_THAT(answers, SizeIs(257));
}

}  // namespace
}  // namespace corral::observe
