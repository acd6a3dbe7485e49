// The parts of a pool without the pool, sessions that only note what they are told, and servers in memory.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pool/capacity.h"
#include "pool/code_watch.h"
#include "pool/server_catalog.h"
#include "pool/slots.h"
#include "pool/spares.h"
#include "session/exchange.h"

namespace corral::tests {

/// What its client would see.
struct FakeOutput : router::ClientOutput {
  bool congested() const override { return false; }
  void error_output(std::string_view bytes) override { errors.append(bytes); }
  void note(const std::string& sentence) override { notes.push_back(sentence); }

  std::vector<std::string> notes;
  std::string errors;
};

/// A session that notes what it is told, and may do something about it at once.
class FakePort final : public FakeOutput, public router::SessionPort {
 public:
  using FakeOutput::error_output;
  using FakeOutput::note;
  using FakeOutput::wants_advice;

  explicit FakePort(std::uint64_t number, std::string owner = {})
      : SessionPort(SessionId(number), std::move(owner), nullptr, static_cast<FakeOutput&>(*this)) {
    client_.introduction = "{}";
  }

  void opened(const router::Opened& opened) override {
    answers.push_back(opened);
    if (when_opened) when_opened();
  }
  void deliver(const wire::Line&, std::initializer_list<wire::Edit>) override {}
  void answer(const wire::Message&, std::string_view) override {}
  void server_drained() override {}
  void instance_lost(router::Departure departure, const std::string& why) override {
    departures.push_back(departure);
    reason = why;
  }
  void instance_ended(const instance::TreeEnd& ending) override { endings.push_back(ending); }
  void list_changed(router::ChangedList) override {}

  /// Its client will send nothing more.
  void say_no_more() { may_ask_ = false; }

  std::size_t told() const { return answers.size(); }
  router::Opened::Kind last() const { return answers.back().kind; }

  std::vector<router::Opened> answers;
  std::vector<router::Departure> departures;
  std::vector<instance::TreeEnd> endings;
  std::string reason;
  Task when_opened;
};

inline std::shared_ptr<pool::ServerSpec> files_spec(config::Share share) {
  auto spec = std::make_shared<pool::ServerSpec>();
  spec->from_configuration = true;
  spec->server = "files";
  spec->launch.argv = {"/bin/fake-server"};
  spec->launch.directory = "/";
  spec->key = knowledge::launch_key(spec->launch);
  spec->entry.share = share;
  spec->entry.modern = false;
  return spec;
}

inline knowledge::SharingDecision shared_decision() {
  return {.shared = true, .reason = "shared: a test", .hint = {}};
}
inline knowledge::SharingDecision private_decision() {
  return {.shared = false, .reason = "private: a test", .hint = {}};
}

/// The server's side of the handshakes that were asked for since the last call.
inline void answer_handshakes(FakeSpawner& spawner) {
  for (FakeServer& server : spawner.servers) {
    for (const std::string& line : server.heard()) {
      const auto message = json(line).as_object();
      if (!message.contains("method") || message.at("method") != "initialize") continue;
      server.say(R"({"jsonrpc":"2.0","id":)" + boost::json::serialize(message.at("id")) +
                 R"(,"result":{"protocolVersion":"2025-11-25","capabilities":{},)"
                 R"("serverInfo":{"name":"fake","version":"1"}}})");
    }
  }
}

/// What a slot needs around it, put together as a pool does it, with every request of a slot noted.
class PoolParts : private pool::SlotOwner {
 public:
  void settle() {
    for (int turn = 0; turn < 8; ++turn) loop.run_due();
  }
  void pass(Clock::duration time) {
    clock.pass(time);
    settle();
  }
  void open_servers() {
    settle();
    answer_handshakes(spawner);
    settle();
  }
  std::size_t started() const { return spawner.servers.size(); }
  FakeServer& server() { return spawner.servers.back(); }

  HeldClock clock;
  Loop loop;
  FakeSpawner spawner;
  pool::ServerCatalog catalog{loop};
  instance::Children children{loop};
  pool::SlotContext context{.loop = loop,
                            .spawner = spawner,
                            .catalog = catalog,
                            .owner = *this,
                            .children = children,
                            .line_cap = std::size_t{1} << 20};
  pool::Slots slots{context};
  pool::Capacity capacity{slots, catalog, context.limits};
  pool::CodeWatch code{loop, slots};
  pool::StoppedServers stopped;

  pool::CodeWatch::BuildOf build_of;  // of an instance that opens; null = nothing is known of its files
  std::string no_room;                // an error of make_room, if there is one
  std::vector<pool::SlotId> unused;   // as slots told it
  pool::SlotId forgotten;             // as if it had been destroyed
  std::vector<pool::InstanceEnd> unproved;
  std::vector<std::unique_ptr<router::Router>> disposed;

 private:
  Result<void> make_room(const pool::ServerSpec& spec) override {
    if (!no_room.empty()) return Error{no_room};
    return capacity.make_room(spec);
  }
  knowledge::Fingerprint watch_code(const instance::Instance& instance) override {
    return build_of ? build_of(instance) : knowledge::Fingerprint();
  }
  pool::Slot* find(pool::SlotId id) override { return id == forgotten ? nullptr : slots.find(id); }
  void slot_unused(pool::SlotId id) override { unused.push_back(id); }
  void dispose(std::unique_ptr<router::Router> router) override { disposed.push_back(std::move(router)); }
  void ended_unproved(const std::string&, const pool::InstanceEnd& end) override { unproved.push_back(end); }
};

}  // namespace corral::tests
