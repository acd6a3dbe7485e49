// A client and a server that say anything in any order, well and badly formed, with a bridge between them:
// the rules that hold whatever their eras. Each side hears only valid messages, every request has at most one
// answer, and when the client has gone nothing waits any more.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bridge/bridge.h"
#include "wire/json_text.h"
#include "wire/message.h"

namespace corral::fuzz {

using namespace corral::wire;

inline void demand(bool truth) {
  if (!truth) abort();
}

/// The input, read as one choice after the other; all are the first one when it has ended.
class Choices {
 public:
  explicit Choices(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  bool ended() const { return bytes_.empty(); }
  std::size_t below(std::size_t limit) {
    if (bytes_.empty() || limit == 0) return 0;
    const std::size_t byte = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return byte % limit;
  }
  template <class List>
  std::string of(const List& list) {
    return list.empty() ? "" : std::string(list[below(list.size())]);
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

// In the templates %i is an id of the client's, %m a _meta, %s a requestState, %n an id that the
// server has been asked under, %q a new id of the server's, %o one of its old ones, %u a URI, %l a log level,
// %k a key, %v a value of any shape, %a an id that the client has been asked under.
using Templates = std::vector<std::string_view>;

inline const Templates kIds = {"1", "2", "\"a\"", "\"1\"", "1.0", "-7"};
inline const Templates kUris = {"f:///a", "f:///a/b", "f:///", "u"};
inline const Templates kLevels = {"debug", "error", "emergency", "loud"};
inline const Templates kKeys = {"r1", "r2", "r3", "k"};
/// What belongs to one pair of eras.
struct Pair {
  const Templates& client;
  const Templates& server;
  const Templates& metas;
  const Templates& values;
  const std::string& handshake;  // of another instance
  void (*check_to_client)(const Message& message);
  void (*check_to_server)(const Message& message);
  /// Ids are passed on as they are, and what nobody waits for is the router's to drop: it is dropped here.
  bool same_ids = false;
};

/// Both ends of a bridge, with the rules that hold between any two eras.
class Exchange : public bridge::Outlet {
 public:
  Exchange(const Pair& pair, Choices choices) : pair_(pair), choices_(choices) {}

  void to_client(const Line& line, std::initializer_list<Edit> edits = {}) override;
  void to_server(const Message& message) override;
  QuestionId next_question() override { return QuestionId(++questions_); }

  void run(bridge::Bridge& bridge);

 private:
  std::string filled(std::string text);
  std::string one_of_last(const std::vector<std::string>& list, std::string_view if_none) {
    return list.empty() ? std::string(if_none) : list[list.size() - 1 - choices_.below(list.size())];
  }
  std::string value_for(char letter);
  std::string broken(std::string text);
  void client_says(const std::string& text);
  void server_says(const std::string& text);
  void step();

  const Pair& pair_;
  Choices choices_;
  bridge::Bridge* bridge_ = nullptr;
  corral::Clock::time_point now_{std::chrono::hours(1)};
  std::uint64_t questions_ = 0;
  std::size_t depth_ = 0;
  std::map<std::string, std::size_t> open_;  // the client's requests without an answer
  std::vector<std::string> heard_ids_;       // of the server
  std::set<std::string> known_ids_;          // the same
  std::vector<std::string> client_ids_;      // of questions that the client was asked
  std::set<std::string> known_questions_;    // the same
  std::set<std::string> unanswered_;         // the server's questions
  std::vector<std::string> asked_;           // all that it has asked
  std::vector<std::string> states_;
};

inline void Exchange::to_client(const Line& line, std::initializer_list<Edit> edits) {
  std::string text;
  std::size_t done = 0;
  for (const Edit& edit : edits) {
    if (!edit.where.present()) continue;
    demand(edit.where.begin >= done && edit.where.end <= line.text.size());
    text.append(line.text.substr(done, edit.where.begin - done)).append(edit.text);
    done = edit.where.end;
  }
  text.append(line.text.substr(done));
  const Message scanned(text);
  demand(scanned.kind() == Kind::Request || scanned.kind() == Kind::Notification ||
         scanned.kind() == Kind::Response);
  if (scanned.kind() == Kind::Request) {
    demand(known_questions_.insert(std::string(scanned.id())).second);
    client_ids_.emplace_back(scanned.id());
  }
  if (scanned.kind() == Kind::Response) {
    const auto open = open_.find(std::string(scanned.id()));
    demand(open != open_.end() && open->second > 0);
    if (--open->second == 0) open_.erase(open);
    const std::string_view result = scanned.result();
    const auto state = string_value(member(result, "requestState").in(result));
    if (state) states_.push_back(*state);
  }
  pair_.check_to_client(scanned);
}

inline void Exchange::to_server(const Message& sent) {
  const Message scanned(sent.text());
  demand(scanned.kind() == sent.kind() && scanned.id() == sent.id());
  const std::string id(scanned.id());
  demand(scanned.kind() == Kind::Request || scanned.kind() == Kind::Notification ||
         scanned.kind() == Kind::Response);
  if (scanned.kind() == Kind::Request) {
    const bool fresh = known_ids_.insert(id).second;
    demand(pair_.same_ids || (fresh && own_number(id)));
    // The router refuses a second request with an open id.
    if (!fresh) {
      const std::string refusal = error_message(id, -32600, "open");
      return bridge_->from_server(Message(refusal), now_);
    }
    heard_ids_.push_back(id);
  }
  if (scanned.kind() == Kind::Response) demand(unanswered_.erase(id) == 1 || pair_.same_ids);
  pair_.check_to_server(scanned);
  // Some answers come before this returns.
  if (scanned.kind() == Kind::Request && depth_ < 4 && choices_.below(4) == 3) {
    server_says(filled(R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":%v})"));
  }
}

inline std::string Exchange::value_for(char letter) {
  switch (letter) {
    case 'i': return choices_.of(kIds);
    case 'm': return choices_.of(pair_.metas);
    case 's': return one_of_last(states_, "none");
    case 'n': return one_of_last(heard_ids_, "1");
    case 'a': return one_of_last(client_ids_, "1");
    case 'q': return std::to_string(asked_.size());
    case 'o': return one_of_last(asked_, "0");
    case 'u': return choices_.of(kUris);
    case 'l': return choices_.of(kLevels);
    case 'k': return choices_.of(kKeys);
    case 'v': return choices_.of(pair_.values);
    default: return "";
  }
}

inline std::string Exchange::filled(std::string text) {
  for (std::size_t at = 0; (at = text.find('%', at)) != text.npos && at + 1 < text.size();) {
    text.replace(at, 2, value_for(text[at + 1]));
  }
  return text;
}

/// Now and then one byte is another one.
inline std::string Exchange::broken(std::string text) {
  if (choices_.below(8) != 7) return text;
  const std::size_t at = (choices_.below(256) * 256 + choices_.below(256)) % text.size();
  constexpr std::string_view kBytes = "\"{}[]:,\\ 0-x";
  text[at] = kBytes[choices_.below(kBytes.size())];
  return text;
}

inline void Exchange::client_says(const std::string& text) {
  const Message scanned(text);
  // The session refuses anything else itself.
  if (scanned.kind() == Kind::Request) ++open_[std::string(scanned.id())];
  if (scanned.kind() == Kind::Batch || scanned.kind() == Kind::NotRpc || scanned.kind() == Kind::NotJson)
    return;
  if (pair_.same_ids && scanned.kind() == Kind::Response &&
      known_questions_.erase(std::string(scanned.id())) == 0) {
    return;
  }
  // No answer may follow a cancellation.
  if (scanned.has_request_id()) {
    open_.erase(std::string(scanned.request_id()));
    if (pair_.same_ids) known_ids_.erase(std::string(scanned.request_id()));
  }
  bridge_->from_client(scanned, now_);
}

inline void Exchange::server_says(const std::string& text) {
  const Message scanned(text);
  const std::string id(scanned.id());
  if (scanned.kind() == Kind::Batch || scanned.kind() == Kind::NotRpc || scanned.kind() == Kind::NotJson)
    return;
  if (pair_.same_ids && scanned.kind() == Kind::Response && known_ids_.erase(id) == 0) return;
  if (scanned.kind() == Kind::Request) {
    // The router gives no id twice.
    if (std::find(asked_.begin(), asked_.end(), id) != asked_.end()) return;
    asked_.push_back(id);
    unanswered_.insert(id);
  }
  ++depth_;
  bridge_->from_server(scanned, now_);
  --depth_;
  if (scanned.has_request_id()) unanswered_.erase(std::string(scanned.request_id()));
}

inline void Exchange::step() {
  switch (choices_.below(10)) {
    case 0: now_ += std::chrono::milliseconds(5); return bridge_->expire(now_);
    case 1: now_ += std::chrono::minutes(6); return bridge_->expire(now_);
    case 2: return bridge_->instance_changed(pair_.handshake);
    case 3:
    case 4:
    case 5:
    case 6: return client_says(broken(filled(choices_.of(pair_.client))));
    default: return server_says(broken(filled(choices_.of(pair_.server))));
  }
}

inline void Exchange::run(bridge::Bridge& bridge) {
  bridge_ = &bridge;
  for (int steps = 0; steps < 200 && !choices_.ended(); ++steps) step();
  bridge.client_ended();
  // A call may be made again now and then, but not for ever.
  for (int rounds = 0; rounds < 10; ++rounds) bridge.expire(now_ += std::chrono::hours(1));
  demand(!bridge.next_deadline());
  demand(unanswered_.empty() || pair_.same_ids);  // the router answers for a client that has gone
}

}  // namespace corral::fuzz
