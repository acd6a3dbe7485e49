#include "cli/direct/tool_catalog.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "base/units.h"
#include "base/words.h"
#include "cli/screen/json_layout.h"
#include "wire/json_writer.h"

namespace corral::cli {
namespace {

// Limits for a server that sends pages without end, or very large tools.
constexpr std::size_t kMostTools = 100'000;
constexpr std::size_t kMostBytes = std::size_t{256} << 20;  // of all pages, including cursors

Answer not_understood(const std::string& why) {
  return {Answer::Kind::Error, "", "the server sent an invalid list of tools: " + why, kProtocolError};
}

std::optional<std::string> text_member(std::string_view object, std::string_view key) {
  return wire::string_value(wire::member(object, key).in(object));
}

/// Adds the tools of one page; returns what is wrong with the page, or nothing.
std::string add_page(std::string_view page, std::vector<Tool>& tools) {
  const std::string_view array = wire::member(page, "tools").in(page);
  const auto elements = wire::array_elements(array, kMostTools);
  if (!elements) return "it has no \"tools\"";
  if (tools.size() + elements->size() > kMostTools)
    return "it has more than " + std::to_string(kMostTools) + " tools";
  for (const wire::Span element : *elements) {
    const std::string json = on_one_line(element.in(array));
    const std::optional<std::string> name = text_member(json, "name");
    if (!name) return "a tool has no name";
    tools.push_back({*name, text_member(json, "description").value_or(""), json});
  }
  return "";
}

}  // namespace

const Tool* ToolCatalog::find(std::string_view name) const {
  const auto found =
      std::find_if(tools.begin(), tools.end(), [name](const Tool& tool) { return tool.name == name; });
  return found == tools.end() ? nullptr : &*found;
}

Error ToolCatalog::unknown(const std::string& name, const std::string& server) const {
  std::vector<std::string> names;
  names.reserve(tools.size());
  for (const Tool& tool : tools) names.push_back(printable_line(tool.name));
  const std::string close = nearest_word(name, names);
  const std::string hint = close.empty() ? "" : "did you mean " + close + "? ";
  return Error{server + " has no tool '" + name + "': " + hint + "`corral tools` lists " +
               std::to_string(tools.size())};
}

Answer ToolCatalog::why_missing(const std::string& name, const std::string& server) const {
  if (!answer.ok()) return answer;
  return {Answer::Kind::Error, "", unknown(name, server).message, kBadArguments};
}

namespace {

ToolCatalog list_once(McpClient& client) {
  ToolCatalog catalog;
  catalog.answer.kind = Answer::Kind::Result;
  catalog.answer.exit_code = 0;
  if (!client.has_capability("tools")) return catalog;
  std::set<std::string> seen;
  std::string params = "{}";
  std::size_t bytes = 0;
  for (;;) {
    catalog.answer = client.ask("tools/list", params);
    if (!catalog.answer.ok()) return catalog;
    const std::string& page = catalog.answer.json;
    bytes += page.size();
    const std::string fault =
        bytes > kMostBytes ? "it is larger than " + show_size(kMostBytes) : add_page(page, catalog.tools);
    const std::string cursor(wire::member(page, "nextCursor").in(page));
    if (!fault.empty()) {
      catalog.answer = not_understood(fault);
    } else if (cursor.empty() || cursor == "null") {
      return catalog;
    } else if (!seen.insert(cursor).second || seen.size() > kMostTools) {
      catalog.answer = not_understood("its pages do not end");
    }
    if (!catalog.answer.ok()) return catalog;
    params = R"({"cursor":)" + cursor + "}";
  }
}

}  // namespace

ToolCatalog list_tools(McpClient& client) {
  constexpr int kMostTries = 3;  // a server may change its list again and again
  ToolCatalog catalog;
  for (int tries = 0; tries < kMostTries; ++tries) {
    const std::size_t before = client.changes_of_tools();
    catalog = list_once(client);
    if (!catalog.answer.ok() || client.changes_of_tools() == before) break;
  }
  return catalog;
}

const Tool* find_tool(McpClient& client, ToolCatalog& catalog, std::string_view name) {
  const Tool* const found = catalog.find(name);
  if (found != nullptr || client.lost()) return found;
  ToolCatalog again = list_tools(client);
  if (again.answer.ok()) {
    catalog = std::move(again);
  } else {
    catalog.answer = std::move(again.answer);  // the known tools can still be called
  }
  return catalog.find(name);
}

std::string_view schema_of(const Tool& tool) {
  const std::string_view schema = wire::member(tool.json, "inputSchema").in(tool.json);
  return schema.starts_with('{') ? schema : std::string_view(R"({"type":"object"})");
}

namespace {

/// Adds a type, which both vendors require, and properties, which one of them requires. MCP servers omit them
/// for tools without arguments.
std::string vendor_schema(const Tool& tool) {
  std::string schema(schema_of(tool));
  for (const auto& [key, value] : {std::pair("properties", "{}"), {"type", "\"object\""}}) {
    if (wire::member(schema, key).present()) continue;
    const std::string comma = schema.size() == 2 ? "" : ",";
    schema.insert(1, wire::quoted(key) + ":" + value + comma);
  }
  return schema;
}

}  // namespace

std::string in_format(const Tool& tool, Format format) {
  if (format == Format::Mcp) return tool.json;
  wire::JsonObject json;
  json.text("name", tool.name);
  if (!tool.description.empty()) json.text("description", tool.description);
  const std::string schema = vendor_schema(tool);
  if (format == Format::Anthropic) return json.raw("input_schema", schema).json();
  return wire::JsonObject()
      .text("type", "function")
      .raw("function", json.raw("parameters", schema).json())
      .json();
}

std::string in_format(const std::vector<Tool>& tools, Format format) {
  return wire::array_of(tools, [format](const Tool& tool) { return in_format(tool, format); });
}

}  // namespace corral::cli
