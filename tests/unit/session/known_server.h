// A server whose files are in the test's hand, and what a session that has listed its tools leaves behind.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "session/exchange.h"

namespace corral::tests {

inline const std::string kTools = R"({"tools":[{"name":"read","inputSchema":{"type":"object"}}]})";
inline constexpr const char* kList = R"({"jsonrpc":"2.0","id":"l","method":"tools/list"})";
inline constexpr const char* kCall =
    R"({"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"read"}})";

class Lazy : public testing::TestWithParam<config::Share> {
 protected:
  explicit Lazy(config::Share share = config::Share::Shared) : exchange(share) {
    char name[] = "/tmp/corral-lazy-XXXXXX";
    folder = mkdtemp(name);
    write_script("1");
    exchange.pool.learn_builds_with([this](const instance::Instance&) { return build(); });
  }
  ~Lazy() override { std::filesystem::remove_all(folder); }

  void write_script(const std::string& text) { std::ofstream(folder + "/script") << text; }
  knowledge::Fingerprint build() const {
    struct stat status {};
    const std::string path = folder + "/script";
    stat(path.c_str(), &status);
    const std::int64_t modified = status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec;
    return {{{path, status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size), modified}}};
  }
  static std::string id_text(const std::string& line) { return boost::json::serialize(json(line).at("id")); }
  /// Answers every request that this server has heard; false if there was none.
  bool answer(FakeServer& fake, const std::string& result) {
    bool any = false;
    for (const std::string& line : fake.heard()) {
      if (!json(line).as_object().contains("id")) continue;
      any = true;
      fake.say(R"({"jsonrpc":"2.0","id":)" + id_text(line) + R"(,"result":)" + result + "}");
    }
    exchange.settle();
    return any;
  }
  /// A session that has listed the tools of a server, and is over; so is the server.
  void learn() {
    FakeClient& client = exchange.ready_client(R"({"tools":{},"prompts":{}})");
    client.say(kList);
    exchange.settle();
    answer(exchange.spawner.servers.back(), kTools);
    client.session.end(session::EndReason::InputClosed);
    exchange.settle();
    if (exchange.pool.living() == 0) return;
    exchange.pool.retire("files", pool::Cause::Restarted, [](const auto&) {});
    exchange.settle();
    exchange.spawner.servers.back().exit(0);
    exchange.settle();
  }
  FakeClient& attach() {
    FakeClient& client = exchange.connect();
    client.say(kInitialize);
    client.say(kInitialized);
    exchange.settle();
    return client;
  }

  Exchange exchange;
  std::string folder;
};

class LazyPrivate : public Lazy {
 protected:
  LazyPrivate() : Lazy(config::Share::Session) {}
};

}  // namespace corral::tests
