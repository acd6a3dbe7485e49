// A modern client and a legacy server with a bridge between them: each hears only words of its own era.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "bridge/modern_client.h"
#include "bridge_exchange.h"

namespace {

using namespace corral;
using namespace corral::fuzz;

const Templates kValues = {"{}",
                           "[]",
                           "7",
                           "null",
                           "\"t\"",
                           R"({"uri":"x","_meta":{"v":1}})",
                           R"({"action":"accept"})",
                           R"([{"mode":"url","url":"u","elicitationId":"e"}])",
                           R"([{"name":"t","execution":{"taskSupport":"required"}},{"name":"u"}])",
                           "true"};
const Templates kMetas = {
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})",
    R"("_meta":{"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"roots":{}},"progressToken":%i})",
    R"("_meta":{"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}},"io.modelcontextprotocol/logLevel":"%l","v/k":%v})",
    R"("_meta":{"io.modelcontextprotocol/clientCapabilities":%v})"};

const Templates kModernClient = {
    R"({"jsonrpc":"2.0","id":%i,"method":"tools/call","params":{"name":"t",%m}})",
    R"({"jsonrpc":"2.0","id":%i,"method":"tools/call","params":{"requestState":"%s","inputResponses":{"%k":%v,"%k":%v},"name":"t",%m}})",
    R"({"jsonrpc":"2.0","id":%i,"method":"resources/read","params":{"uri":"%u",%m}})",
    R"({"jsonrpc":"2.0","id":%i,"method":"resources/read","params":{"uri":"%u","requestState":"%s","inputResponses":%v,%m}})",
    R"({"params":{%m},"method":"tools/list","id":%i,"jsonrpc":"2.0"})",
    R"({"jsonrpc":"2.0","id":%i,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["%u","%u"]},%m}})",
    R"({"jsonrpc":"2.0","id":%i,"method":"subscriptions/listen","params":{"notifications":%v,%m}})",
    R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%i}})",
    R"({"jsonrpc":"2.0","id":%i,"method":"tasks/get","params":{%m}})",
    R"({"jsonrpc":"2.0","id":%n,"result":%v})",
    R"({"jsonrpc":"2.0","method":"notifications/roots/list_changed","params":%v})"};

const Templates kLegacyServer = {
    R"({"jsonrpc":"2.0","id":%n,"result":{}})",
    R"({"jsonrpc":"2.0","id":%n,"result":{"tools":%v,"_meta":%v,"resultType":%v,"ttlMs":%v}})",
    R"({"result":%v,"id":%n,"jsonrpc":"2.0"})",
    R"({"jsonrpc":"2.0","id":%n,"error":{"code":-32042,"message":"m","data":{"elicitations":%v}}})",
    R"({"jsonrpc":"2.0","id":%n,"error":{"code":-32002,"message":"m","data":%v}})",
    R"({"jsonrpc":"2.0","id":%n,"error":{"code":-32021,"message":"m"}})",
    R"({"jsonrpc":"2.0","id":%q,"method":"elicitation/create","params":{"message":"m","_meta":{"dev.corral/inputKey":"%k"}}})",
    R"({"jsonrpc":"2.0","id":%q,"method":"elicitation/create","params":{"mode":"url","url":"%u","task":%v}})",
    R"({"jsonrpc":"2.0","id":%q,"method":"sampling/createMessage","params":{"messages":%v}})",
    R"({"jsonrpc":"2.0","id":%q,"method":"roots/list"})",
    R"({"jsonrpc":"2.0","id":%q,"method":"ping"})",
    R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%o}})",
    R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%n,"progress":1}})",
    R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"%l","data":%v}})",
    R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})",
    R"({"jsonrpc":"2.0","method":"notifications/resources/list_changed","params":{"_meta":%v}})",
    R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"%u"}})",
    R"({"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e"}})"};

const std::string kInitialized =
    R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{"subscribe":true},"logging":{}},)"
    R"("serverInfo":{"name":"s","version":"1"}})";

void check_to_modern_client(const Message& message) {
  demand(message.kind() != Kind::Request);
  const std::string_view result = message.result();
  if (!result.empty()) demand(member(result, "resultType").present());
  const std::string_view error = message.error();
  const std::string_view code = member(error, "code").in(error);
  demand(code != "-32002" && code != "-32042");
}

void check_to_legacy_server(const Message& message) {
  if (message.kind() != Kind::Request) return;
  const std::string_view params = message.params();
  demand(!message.has_protocol_version() && !message.has_log_level());
  demand(!member(params, "requestState").present() && !member(params, "inputResponses").present());
}

const Pair kModernBeforeLegacy = {
    kModernClient,          kLegacyServer,         kMetas, kValues, kInitialized,
    check_to_modern_client, check_to_legacy_server};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Exchange exchange(kModernBeforeLegacy, Choices({data, size}));
  const auto modern = bridge::modern_client(exchange, {.server = "s", .initialize_result = kInitialized});
  exchange.run(*modern);
  return 0;
}
