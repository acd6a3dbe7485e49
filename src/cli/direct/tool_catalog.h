// The complete list of the tools of a server, and its conversion to the formats of model vendors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/direct/mcp_client.h"

namespace corral::cli {

struct Tool {
  std::string name;
  std::string description;  // "" if it has none
  std::string json;         // as the server wrote it, on one line
};

struct ToolCatalog {
  Answer answer;  // to the last request; `ok` = the list is complete
  std::vector<Tool> tools;

  const Tool* find(std::string_view name) const;
  /// The error for a tool that does not exist, with the most similar name.
  Error unknown(const std::string& name, const std::string& server) const;
  /// Why `find_tool` found nothing: the list was not available, or there is no such tool.
  Answer why_missing(const std::string& name, const std::string& server) const;
};

/// Requests all pages of the list. A server without the capability is not asked; its list is empty.
ToolCatalog list_tools(McpClient& client);

/// Finds a tool; null if there is none. Before that it requests the list again, because some servers add
/// tools only after the handshake. If that request fails, `catalog.answer` has the reason. The pointer is
/// valid until the catalog changes.
const Tool* find_tool(McpClient& client, ToolCatalog& catalog, std::string_view name);

/// The tool's input schema, `{}` if it has none.
std::string_view schema_of(const Tool& tool);

enum class Format { Mcp, Anthropic, OpenAi };

/// One element of the array that the vendor's API expects as `tools`, and the whole array.
std::string in_format(const Tool& tool, Format format);
std::string in_format(const std::vector<Tool>& tools, Format format);

}  // namespace corral::cli
