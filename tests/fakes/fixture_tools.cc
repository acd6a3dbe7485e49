// The tools that answer by themselves, and the list of all.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>

#include "fixture_offer.h"

namespace corral::fakes {
namespace {

constexpr std::string_view kSilence = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

Outcome content(const std::string& parts) {
  Outcome outcome;
  outcome.result = R"({"content":[)" + parts + "]}";
  return outcome;
}

std::string image() {
  return R"({"type":"image","data":")" + std::string(kPixel) + R"(","mimeType":"image/png"})";
}

Outcome simple_text(const Round&) { return text("This is a simple text response for testing."); }

Outcome image_content(const Round&) { return content(image()); }

Outcome audio_content(const Round&) {
  return content(R"({"type":"audio","data":")" + std::string(kSilence) + R"(","mimeType":"audio/wav"})");
}

Outcome embedded_resource(const Round&) {
  return content(R"({"type":"resource","resource":{"uri":"test://embedded-resource","mimeType":"text/plain",)"
                 R"("text":"This is an embedded resource content."}})");
}

Outcome multiple_content_types(const Round&) {
  return content(R"({"type":"text","text":"Multiple content types test:"},)" + image() +
                 R"(,{"type":"resource","resource":{"uri":"test://mixed-content-resource",)"
                 R"("mimeType":"application/json","text":"{\"test\":\"data\",\"value\":123}"}})");
}

Outcome structured_content(const Round&) {
  Outcome outcome;
  outcome.result =
      R"({"content":[{"type":"text","text":"{\"answer\":42}"}],"structuredContent":{"answer":42}})";
  return outcome;
}

Outcome error_handling(const Round&) {
  Outcome outcome;
  outcome.result =
      R"({"content":[{"type":"text","text":"This tool intentionally returns an error for testing"}],)"
      R"("isError":true})";
  return outcome;
}

Event log_line(std::string_view said, long at) {
  return {Event::Kind::Log, R"("level":"info","logger":"fixture","data":)" + quoted(said), at};
}

Outcome tool_with_logging(const Round&) {
  Outcome outcome = text("Logged three lines.");
  outcome.events = {log_line("Tool execution started", 0), log_line("Tool processing data", 50),
                    log_line("Tool execution completed", 100)};
  outcome.result_at = 100;
  return outcome;
}

Event progress(long done, long total, long at) {
  return {Event::Kind::Progress,
          R"("progress":)" + std::to_string(done) + R"(,"total":)" + std::to_string(total), at};
}

Outcome tool_with_progress(const Round&) {
  Outcome outcome = text("Made progress three times.");
  outcome.events = {progress(0, 100, 0), progress(50, 100, 50), progress(100, 100, 100)};
  outcome.result_at = 100;
  return outcome;
}

/// Progress every 50 ms. Cancelled, it never answers.
Outcome long_call(const Round& round) {
  const std::string asked(value_at(round.arguments, {"ms"}));
  const long length = std::min(60'000L, std::strtol(asked.c_str(), nullptr, 10));
  Outcome outcome = text("Done after " + std::to_string(length) + " ms.");
  for (long at = 0; at < length; at += 50) outcome.events.push_back(progress(at, length, at));
  outcome.result_at = length;
  return outcome;
}

Outcome cancelled_calls(const Round& round) { return text(std::to_string(round.world.cancelled)); }

Outcome echo(const Round& round) { return text("Echo: " + std::string(text_at(round.arguments, {"text"}))); }

Outcome pid(const Round&) { return text(std::to_string(getpid())); }

Outcome trigger(bool& present, Event::Kind kind) {
  present = !present;
  Outcome outcome = text(present ? "There is one more." : "There is one less.");
  outcome.events = {{kind, "", 0}};
  return outcome;
}

Outcome trigger_tool_change(const Round& round) {
  return trigger(round.world.dynamic_tool, Event::Kind::ToolsChanged);
}

Outcome trigger_prompt_change(const Round& round) {
  return trigger(round.world.dynamic_prompt, Event::Kind::PromptsChanged);
}

Outcome touch_resource(const Round& round) {
  Outcome outcome = text("Touched.");
  outcome.events = {
      {Event::Kind::ResourceUpdated, R"("uri":)" + quoted(text_at(round.arguments, {"uri"})), 0}};
  return outcome;
}

Outcome trace(const Round& round) {
  std::ofstream(round.world.trace_file, std::ios::app) << text_at(round.arguments, {"text"}) << std::endl;
  return text("Written.");
}

Outcome custom_header(const Round& round) {
  return text("Region: " + std::string(text_at(round.arguments, {"region"})));
}

constexpr std::string_view kAllKeywords =
    R"({"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","$defs":{"address":)"
    R"({"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},)"
    R"("properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":)"
    R"({"type":"string","enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"}},)"
    R"("allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],"if":{"properties":{"contactMethod":)"
    R"({"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":)"
    R"({"required":["email"]},"additionalProperties":false})";

constexpr std::string_view kUri =
    R"({"type":"object","properties":{"uri":{"type":"string"}},"required":["uri"]})";
constexpr std::string_view kMs =
    R"({"type":"object","properties":{"ms":{"type":"integer"}},"required":["ms"]})";
constexpr std::string_view kText =
    R"({"type":"object","properties":{"text":{"type":"string"}},"required":["text"]})";
constexpr std::string_view kRegion =
    R"({"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}},"required":["region"]})";
constexpr std::string_view kAnswerSchema =
    R"("outputSchema":{"type":"object","properties":{"answer":{"type":"integer"}},"required":["answer"]})";

/// Tools that a test added by a file, by a trigger or by chance do nothing but exist.
std::vector<std::string> passing_tools(const World& world) {
  std::vector<std::string> names;
  std::ifstream stream(world.tools_file);
  for (std::string name; std::getline(stream, name);) names.push_back(name);
  if (world.dynamic_tool) names.emplace_back("test_dynamic_tool");
  if (world.random_tools) {
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    names.push_back("test_random_" + std::to_string(now));
  }
  return names;
}

std::string entry(const Tool& tool, bool read_only) {
  std::string all = R"({"name":)" + quoted(tool.name) + R"(,"description":)" + quoted(tool.description) +
                    R"(,"inputSchema":)" + std::string(tool.schema);
  if (!tool.more.empty()) all += ',' + std::string(tool.more);
  if (read_only) all += R"(,"annotations":{"readOnlyHint":true})";
  return all + '}';
}

}  // namespace

const std::vector<Tool>& plain_tools() {
  static const std::vector<Tool> tools = {
      {"test_simple_text", "Returns a text", simple_text},
      {"test_image_content", "Returns an image", image_content},
      {"test_audio_content", "Returns audio", audio_content},
      {"test_embedded_resource", "Returns an embedded resource", embedded_resource},
      {"test_multiple_content_types", "Returns text, image and resource", multiple_content_types},
      {"test_structured_content", "Returns a value by its schema", structured_content,
       R"({"type":"object","properties":{}})", kAnswerSchema},
      {"test_error_handling", "Always fails", error_handling},
      {"test_tool_with_logging", "Logs three lines", tool_with_logging},
      {"test_logging_tool", "Logs three lines", tool_with_logging},
      {"test_tool_with_progress", "Makes progress three times", tool_with_progress},
      {"test_reconnection", "Takes a moment, and says so on the way", tool_with_logging},
      {"test_long_call", "Takes its time, with progress", long_call, kMs},
      {"test_cancelled_calls", "How many calls were cancelled in this process", cancelled_calls},
      {"test_echo", "Returns its text", echo, kText},
      {"test_pid", "Returns the pid of this process", pid},
      {"test_trigger_tool_change", "Adds a tool, or removes it again", trigger_tool_change},
      {"test_trigger_prompt_change", "Adds a prompt, or removes it again", trigger_prompt_change},
      {"test_touch_resource", "Tells subscribers that a resource changed", touch_resource, kUri},
      {"test_custom_header", "Takes an argument that HTTP repeats in a header", custom_header, kRegion},
      {"json_schema_2020_12_tool", "Tool with JSON Schema 2020-12 features", simple_text, kAllKeywords},
  };
  return tools;
}

std::string list_tools(const World& world) {
  std::string list;
  const auto add = [&](const Tool& tool) {
    list += (list.empty() ? "" : ",") + entry(tool, world.read_only);
  };
  for (const Tool& tool : plain_tools()) add(tool);
  for (const Tool& tool : asking_tools()) add(tool);
  if (!world.trace_file.empty()) add({"test_trace", "Writes its text into a file", trace, kText});
  for (const std::string& name : passing_tools(world)) add({name, "One more", nullptr});
  return '[' + list + ']';
}

Outcome call_tool(const Round& round) {
  const auto has_name = [&](const Tool& tool) { return tool.name == round.name; };
  for (const std::vector<Tool>* tools : {&plain_tools(), &asking_tools()}) {
    const auto tool = std::find_if(tools->begin(), tools->end(), has_name);
    if (tool != tools->end()) return tool->run(round);
  }
  if (round.name == "test_trace" && !round.world.trace_file.empty()) return trace(round);
  const std::vector<std::string> more = passing_tools(round.world);
  if (std::find(more.begin(), more.end(), round.name) != more.end()) {
    return text("Called " + std::string(round.name));
  }
  return error(-32602, "Unknown tool: " + std::string(round.name));
}

}  // namespace corral::fakes
