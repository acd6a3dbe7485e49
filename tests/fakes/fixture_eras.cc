// What only one of the eras knows.
#include <unistd.h>

#include <algorithm>
#include <array>

#include "fixture_engine.h"

namespace corral::fakes {
namespace {

constexpr std::string_view kModern = "2026-07-28";
constexpr std::array<std::string_view, 4> kLegacy = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"};

constexpr std::string_view kCapabilities =
    R"("capabilities":{"tools":{"listChanged":true},"prompts":{"listChanged":true},)"
    R"("resources":{"subscribe":true,"listChanged":true},"logging":{},"completions":{}})";
constexpr std::string_view kInstructions = R"("instructions":"Answers what the conformance suite asks.")";

constexpr std::array<std::string_view, 5> kRemoved = {"initialize", "ping", "logging/setLevel",
                                                      "resources/subscribe", "resources/unsubscribe"};
constexpr std::array<std::string_view, 3> kListKinds = {"toolsListChanged", "promptsListChanged",
                                                        "resourcesListChanged"};

template <typename List>
bool contains(const List& list, std::string_view value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

Outcome unsupported(std::string_view requested) {
  return error(-32022, "Unsupported protocol version",
               R"({"supported":[)" + quoted(kModern) + R"(],"requested":)" + quoted(requested) + '}');
}

}  // namespace

// ---- legacy

void FixtureEngine::initialize(const std::string& id, std::string_view params) {
  initialized_ = true;
  capabilities_ = value_at(params, {"capabilities"});
  const std::string_view asked = text_at(params, {"protocolVersion"});
  const std::string_view spoken = contains(kLegacy, asked) ? asked : kLegacy.back();
  reply(id, "initialize",
        R"({"protocolVersion":)" + quoted(spoken) + ',' + std::string(kCapabilities) +
            R"(,"serverInfo":{"name":"fixture","version":"1.0.0"},)" + std::string(kInstructions) + '}');
}

bool FixtureEngine::take_legacy(const std::string& id, std::string_view method, std::string_view params) {
  const auto done = [&] {
    reply(id, method, "{}");
    return true;
  };
  if (method == "initialize") {
    initialize(id, params);
    return true;
  }
  if (method == "server/discover" && !initialized_) {
    if (probe_ == Probe::Exit) _exit(1);
    return probe_ == Probe::Silence;
  }
  if (method == "ping") return done();
  if (method == "logging/setLevel") {
    log_level_ = text_at(params, {"level"});
    return done();
  }
  if (method == "resources/subscribe") {
    subscribed_.emplace(text_at(params, {"uri"}));
    return done();
  }
  if (method == "resources/unsubscribe") {
    subscribed_.erase(std::string(text_at(params, {"uri"})));
    return done();
  }
  return false;
}

// ---- modern

/// Every request says which revision it speaks and what its client can do.
bool FixtureEngine::valid_meta(const std::string& id, std::string_view params) {
  const std::string_view meta = value_at(params, {"_meta"});
  const std::string_view version = text_at(meta, {"io.modelcontextprotocol/protocolVersion"});
  const std::string_view capabilities = value_at(meta, {"io.modelcontextprotocol/clientCapabilities"});
  if (version.empty() || !is_object(capabilities)) {
    fail(id, error(-32602, "_meta needs protocolVersion and clientCapabilities"));
    return false;
  }
  if (version == kModern) return true;
  fail(id, unsupported(version));
  return false;
}

void FixtureEngine::listen(const std::string& id, std::string_view params) {
  Listen listen;
  std::string accepted;
  for (const auto& [kind, value] : members(value_at(params, {"notifications"}))) {
    if (contains(kListKinds, kind) && value == "true") {
      listen.kinds.emplace(kind);
    } else if (kind == "resourceSubscriptions") {
      for (const std::string_view uri : elements(value)) listen.uris.emplace(uri.substr(1, uri.size() - 2));
    } else {
      continue;
    }
    accepted += (accepted.empty() ? "" : ",") + quoted(kind) + ':' + std::string(value);
  }
  listens_[id] = std::move(listen);
  say(R"({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":)"
      R"({"io.modelcontextprotocol/subscriptionId":)" +
      id + R"(},"notifications":{)" + accepted + "}}}");
}

bool FixtureEngine::take_modern(const std::string& id, std::string_view method, std::string_view params) {
  const bool bare_initialize = method == "initialize" && value_at(params, {"_meta"}).empty();
  if (bare_initialize) {
    fail(id, unsupported(text_at(params, {"protocolVersion"})));
    return true;
  }
  if (!valid_meta(id, params)) return true;
  if (contains(kRemoved, method)) {
    fail(id, error(-32601, "Method not found: " + std::string(method)));
  } else if (method == "server/discover") {
    reply(id, method,
          R"({"supportedVersions":[)" + quoted(kModern) + "]," + std::string(kCapabilities) + ',' +
              std::string(kInstructions) + '}');
  } else if (method == "subscriptions/listen") {
    listen(id, params);
  } else {
    return false;
  }
  return true;
}

}  // namespace corral::fakes
