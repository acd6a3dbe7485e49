// A legacy client with a modern server, or with a legacy one that is newer than it: each hears only words of
// its own era, the client only those of its revision.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "bridge/legacy_client.h"
#include "bridge/older_client.h"
#include "bridge_exchange.h"

namespace {

using namespace corral;
using namespace corral::fuzz;

const Templates kValues = {
    "{}",
    "[]",
    "7",
    R"({"resultType":"input_required","inputRequests":{"%k":{"method":"roots/list"}}})",
    R"({"resultType":"input_required","requestState":"s"})",
    R"({"resultType":"complete","ttlMs":1,"content":[{"type":"audio"},{"type":"resource_link","uri":"%u"}]})",
    R"({"cacheScope":"x","structuredContent":[],"ttlMs":0,"structuredContent":{},"resultType":"complete"})",
    R"({"resultType":"task"})",
    R"([{"type":"audio","mimeType":7},{"type":"resource_link"},{"outputSchema":{}},{"content":{"type":"audio"}}])",
    R"({"action":"accept"})",
    R"({"uri":"%u"})"};
const Templates kMetas = {R"("x":1)", R"("_meta":{"progressToken":%i})",
                          R"("_meta":{"io.modelcontextprotocol/logLevel":"%l","v/k":%v},"task":%v)",
                          R"("_meta":{"io.modelcontextprotocol\/protocolVersion":"x"},"requestState":"s")"};

const Templates kLegacyClient = {
    R"({"jsonrpc":"2.0","id":%i,"method":"tools/call","params":{"name":"t",%m}})",
    R"({"jsonrpc":"2.0","id":%i,"method":"prompts/get","params":{%m,"name":"t"}})",
    R"({"params":{"uri":"%u",%m},"jsonrpc":"2.0","method":"resources/read","id":%i})",
    R"({"jsonrpc":"2.0","id":%i,"method":"tools/list"})",
    R"({"jsonrpc":"2.0","id":%i,"method":"logging/setLevel","params":{"level":"%l"}})",
    R"({"jsonrpc":"2.0","id":%i,"method":"resources/subscribe","params":{"uri":"%u"}})",
    R"({"jsonrpc":"2.0","id":%i,"method":"resources/unsubscribe","params":{"uri":"%u"}})",
    R"({"jsonrpc":"2.0","id":%i,"method":"tasks/get","params":{"taskId":"x"}})",
    R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%i,"reason":%v}})",
    R"({"jsonrpc":"2.0","id":%a,"result":%v})",
    R"({"jsonrpc":"2.0","id":%a,"error":{"code":-1,"message":"m"}})",
    R"({"jsonrpc":"2.0","method":"notifications/roots/list_changed","params":{}})"};

const Templates kModernServer = {
    R"({"jsonrpc":"2.0","id":%n,"result":{"resultType":"complete"}})",
    R"({"result":%v,"id":%n,"jsonrpc":"2.0"})",
    R"({"jsonrpc":"2.0","id":%n,"result":{"resultType":"input_required","inputRequests":{"%k":{"method":"roots/list"},"%k":{"method":"sampling/createMessage","params":%v}},"requestState":"s"}})",
    R"({"jsonrpc":"2.0","id":%n,"result":{"inputRequests":{"%k":{"method":"elicitation/create","params":{"mode":"url","url":"%u"}},"b":{"method":"elicitation/create","params":{"message":"m","_meta":%v}}},"resultType":"input_required"}})",
    R"({"jsonrpc":"2.0","id":%n,"result":{"resultType":"input_required","inputRequests":%v,"requestState":%v}})",
    R"({"jsonrpc":"2.0","id":%n,"result":{"content":%v,"messages":%v,"tools":%v,"resultType":"complete"}})",
    R"({"jsonrpc":"2.0","id":%n,"error":{"code":-32021,"message":"m","data":{"requiredCapabilities":%v}}})",
    R"({"jsonrpc":"2.0","id":%n,"error":{"code":-32602,"message":"m","data":%v}})",
    R"({"jsonrpc":"2.0","id":%n,"error":{"code":-31001,"message":"gone"}})",
    R"({"jsonrpc":"2.0","id":%q,"method":"ping"})",
    R"({"jsonrpc":"2.0","id":%q,"method":"elicitation/create","params":{"mode":"url"}})",
    R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%n,"progress":1}})",
    R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"%l","data":%v}})",
    R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})",
    R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%n}})",
    R"({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%n},"notifications":{"resourceSubscriptions":["%u","%u"]}}})",
    R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"%u","_meta":{"io.modelcontextprotocol/subscriptionId":%n,"v":%v}}})",
    R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%n}}})"};

const std::string kDiscovered =
    R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"logging":{},"resources":{}}})";

const std::array<std::string, 4> kInitializeParams = {
    R"({"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}})",
    R"({"protocolVersion":"2025-06-18","capabilities":{"elicitation":{"url":{}},"roots":{"listChanged":true}}})",
    R"({"protocolVersion":"2024-11-05","capabilities":{"sampling":{},"roots":{}},"clientInfo":{"name":"c"}})",
    R"({"capabilities":[]})"};

void check_to_legacy_client(const Message& message) {
  const std::string_view method = message.method();
  if (message.kind() == Kind::Request) {
    demand(method == "elicitation/create" || method == "sampling/createMessage" || method == "roots/list");
  }
  demand(!message.has_subscription_id() && method != "notifications/subscriptions/acknowledged");
  const std::string_view result = message.result();
  for (const std::string_view key : {"resultType", "ttlMs", "cacheScope"})
    demand(!member(result, key).present());
  const std::string_view error = message.error();
  const std::string_view code = member(error, "code").in(error);
  demand(code != "-32020" && code != "-32021" && code != "-32022");
}

void check_to_modern_server(const Message& message) {
  const std::string_view method = message.method();
  const std::string_view params = message.params();
  if (message.kind() == Kind::Notification) demand(method == "notifications/cancelled");
  if (message.kind() != Kind::Request) return;
  demand(message.protocol_version() == "\"2026-07-28\"" && !member(params, "task").present());
  const std::string_view capabilities =
      member(message.meta(), "io.modelcontextprotocol/clientCapabilities").in(message.meta());
  demand(capabilities.starts_with("{"));
  demand(!message.has_progress_token() || message.progress_token() == message.id());
  demand(method != "logging/setLevel" && method != "resources/subscribe" && method != "tasks/get");
}

void check_to_older_client(const Message& message) {
  const std::string_view params = message.params();
  if (message.kind() != Kind::Request || message.method() != "elicitation/create") return;
  demand(string_member(params, "mode") != "url");
}

void check_nothing(const Message&) {}

const Pair kLegacyBeforeModern = {kLegacyClient,          kModernServer,         kMetas, kValues, kDiscovered,
                                  check_to_legacy_client, check_to_modern_server};
const Pair kOlderBeforeLegacy = {kLegacyClient, kModernServer,         kMetas,        kValues,
                                 kDiscovered,   check_to_older_client, check_nothing, true};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Choices choices({data, size});
  const std::size_t client = choices.below(kInitializeParams.size() + 2);
  if (client < kInitializeParams.size()) {
    Exchange exchange(kLegacyBeforeModern, choices);
    const auto legacy = bridge::legacy_client(exchange, {"s", kInitializeParams.at(client), kDiscovered});
    exchange.run(*legacy);
  } else {
    Exchange exchange(kOlderBeforeLegacy, choices);
    const auto older =
        bridge::older_client(exchange, client == kInitializeParams.size() ? "2024-11-05" : "2025-03-26");
    exchange.run(*older);
  }
  return 0;
}
