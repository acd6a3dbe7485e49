// The tools of a server: all of them, whatever the number of pages, and in the words of model vendors.
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
  Answer answer;  // of the last question; `ok` = the list is whole
  std::vector<Tool> tools;

  const Tool* find(std::string_view name) const;
  /// Says that there is no such tool, and which one may have been meant.
  Error unknown(const std::string& name, const std::string& server) const;
  /// Why `find_tool` found nothing: the list could not be had, or else there is no such tool.
  Answer why_missing(const std::string& name, const std::string& server) const;
};

/// An empty list from a server that says it has no tools.
ToolCatalog list_tools(McpClient& client);

/// Null if there is none. Asks a second time before it says so, for servers that make tools once they know
/// what the client can do, and tell so only afterwards. If that question fails, the catalog has its answer.
const Tool* find_tool(McpClient& client, ToolCatalog& catalog, std::string_view name);

/// The tool's input schema, `{}` if it has none.
std::string_view schema_of(const Tool& tool);

enum class Format { Mcp, Anthropic, OpenAi };

/// One element of the array that the vendor's API takes as `tools`.
std::string in_format(const Tool& tool, Format format);
std::string in_format(const std::vector<Tool>& tools, Format format);

}  // namespace corral::cli
