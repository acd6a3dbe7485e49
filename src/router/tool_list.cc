#include "router/tool_list.h"

#include <algorithm>
#include <vector>

#include "wire/json_array.h"
#include "wire/json_text.h"

namespace corral::router {
namespace {

/// Annotations are hints from the server; only a plain `true` says something.
bool is_read_only(std::string_view tool) {
  const std::string_view annotations = wire::member(tool, "annotations").in(tool);
  const auto says_true = [annotations](std::string_view hint) {
    return wire::member(annotations, hint).in(annotations) == "true";
  };
  return says_true("readOnlyHint") && !says_true("destructiveHint");
}

bool has_more_pages(std::string_view result) {
  const wire::Span cursor = wire::member(result, "nextCursor");
  return cursor.present() && cursor.in(result) != "null";  // the empty string is a cursor too
}

}  // namespace

std::optional<bool> every_tool_is_read_only(std::string_view result) {
  const std::string_view tools = wire::member(result, "tools").in(result);
  const std::optional<std::vector<wire::Span>> elements = wire::array_elements(tools);
  if (!elements || elements->empty() || has_more_pages(result)) return std::nullopt;
  return std::all_of(elements->begin(), elements->end(),
                     [tools](wire::Span tool) { return is_read_only(tool.in(tools)); });
}

std::string without_tools(std::string_view result, const std::function<bool(std::string_view)>& allowed) {
  const wire::Span place = wire::member(result, "tools");
  const std::string_view tools = place.in(result);
  const std::optional<std::vector<wire::Span>> elements = wire::array_elements(tools);
  if (!elements || elements->empty()) return std::string(result);

  std::string kept;
  std::size_t previous_end = 0;
  for (const wire::Span& element : *elements) {
    const std::string_view tool = element.in(tools);
    const std::optional<std::string> name = wire::string_value(wire::member(tool, "name").in(tool));
    if (name && allowed(*name)) {
      // What stands in front of an element is the bracket for the first one and a comma for all others.
      const std::size_t before = kept.empty() ? 0 : previous_end;
      const std::size_t begin = kept.empty() ? elements->front().begin : element.begin;
      kept.append(tools.substr(before, begin - before)).append(tool);
    }
    previous_end = element.end;
  }
  if (kept.empty()) kept.push_back('[');
  kept.append(tools.substr(previous_end));
  return std::string(result.substr(0, place.begin)).append(kept).append(result.substr(place.end));
}

}  // namespace corral::router
