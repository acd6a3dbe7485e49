// Everything in any order: each message of the server reaches its client once, at once or when it comes back.
#include <map>
#include <random>
#include <set>

#include "transport/streamable_fixture.h"

namespace corral::transport {
namespace {

/// A connection as its client sees it; with the id of a call if it was a POST.
struct Lane {
  HttpReply reply;
  std::string call;
};
/// One that its client has lost, and where it was.
struct LostLane {
  std::string last_id;
  std::string call;
};

class StreamableInAnyOrder : public StreamableTest, public testing::WithParamInterface<unsigned> {
 protected:
  std::size_t below(std::size_t bound) {
    return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random);
  }

  void read(const std::vector<Seen>& events) {
    for (const Seen& event : events) {
      if (!event.id.empty() && !ids.insert(event.id).second) continue;
      if (!event.data.empty()) ++got[event.data];
    }
  }
  void collect_finished() {
    std::erase_if(lanes, [&](const Lane& lane) {
      if (!lane.reply->over) return false;
      if (lane.reply->replied) {
        EXPECT_EQ(lane.reply->status, 200) << lane.reply->body;
        ++got[lane.reply->body];
      } else {
        read(events_of(lane.reply->body));
      }
      return true;
    });
  }
  bool listening() const {
    const auto is_get = [](const auto& lane) { return lane.call.empty(); };
    return std::any_of(lanes.begin(), lanes.end(), is_get) || std::any_of(lost.begin(), lost.end(), is_get);
  }

  void call_something() {
    const std::string id = std::to_string(++last_call);
    lanes.push_back({post(call(id, "\"t" + id + "\"")), id});
    expected.insert(tests::result(id));
  }
  /// The client may not have read all that was written.
  void lose(std::size_t which) {
    const Lane lane = lanes[which];
    lanes.erase(lanes.begin() + static_cast<std::ptrdiff_t>(which));
    std::vector<Seen> events = events_of(lane.reply->body);
    if (!events.empty()) events.resize(1 + below(events.size()));
    read(events);
    lane.reply->hang_up();
    if (!events.empty()) {
      lost.push_back({events.back().id, lane.call});
    } else if (!lane.call.empty()) {
      forgiven.insert(tests::result(lane.call));  // it has no name for what it lost
    }
  }
  void find_again(std::size_t which) {
    const LostLane lane = lost[which];
    lost.erase(lost.begin() + static_cast<std::ptrdiff_t>(which));
    const HttpReply reply = listen(lane.last_id);
    if (reply->status == 204) return;  // it was cancelled, and there is no more
    EXPECT_EQ(reply->status, 200) << reply->body;
    lanes.push_back({reply, lane.call});
  }
  void say_something() {
    const std::string text =
        below(3) == 0 ? question(std::to_string(++last_word)) : log_message(std::to_string(++last_word));
    say(text);
    if (!text.ends_with("\"roots/list\"}")) {
      expected.insert(text);
    } else {
      ++questions;
    }
  }
  /// The client may have lost the connection, and still cancels.
  void give_up(const std::string& id) {
    if (id.empty()) return;
    EXPECT_EQ(post(cancelled(id))->status, 202);
    expected.erase(tests::result(id));
  }

  void step() {
    switch (below(8)) {
      case 0:
      case 1: call_something(); break;
      case 2:
        if (!listening()) lanes.push_back({listen(), ""});
        break;
      case 3:
        if (!lanes.empty()) lose(below(lanes.size()));
        break;
      case 4:
        if (!lost.empty()) find_again(below(lost.size()));
        break;
      case 5:
        if (!calls().empty()) answer("{}", below(calls().size()));
        break;
      case 6:
        if (!lanes.empty() && below(4) == 0) give_up(lanes[below(lanes.size())].call);
        if (!lost.empty() && below(4) == 0) give_up(lost[below(lost.size())].call);
        break;
      default: say_something();
    }
    collect_finished();
  }

  std::mt19937 random{GetParam()};
  std::vector<Lane> lanes;
  std::vector<LostLane> lost;
  std::map<std::string, int> got;
  std::set<std::string> ids;
  std::set<std::string> expected;
  std::set<std::string> forgiven;
  int last_call = 0;
  int last_word = 0;
  int questions = 0;
};

TEST_P(StreamableInAnyOrder, EveryMessageArrivesOnce) {
  start(GetParam() % 2 == 0 ? "2025-11-25" : "2025-06-18");
  for (int i = 0; i < 150; ++i) step();
  while (!calls().empty()) answer();
  while (!lost.empty()) find_again(0);
  if (!listening()) lanes.push_back({listen(), ""});
  collect_finished();
  for (const Lane& lane : lanes) read(events_of(lane.reply->body));

  for (const std::string& message : expected) {
    EXPECT_EQ(got[message], forgiven.contains(message) ? 0 : 1) << message;
  }
  int asked = 0;
  for (const auto& [message, times] : got) {
    EXPECT_LE(times, 1) << message;
    if (message.find("roots/list") != std::string::npos) ++asked;
  }
  EXPECT_EQ(asked, questions);
  EXPECT_EQ(transport->in_use(), 1U) << "the listener is left";
}

INSTANTIATE_TEST_SUITE_P(Seeds, StreamableInAnyOrder, testing::Range(0U, 24U));

}  // namespace
}  // namespace corral::transport
