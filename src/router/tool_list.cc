#include "router/tool_list.h"

#include <algorithm>
#include <vector>

#include "wire/envelope.h"
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

/// The values of every member that some parser could take for the list of tools.
std::vector<wire::Span> tool_lists(std::string_view result) {
  std::vector<wire::Span> found;
  wire::each_member(result, [&found](std::string_view key, wire::Member member) {
    if (wire::same_but_for_case(key, "tools")) found.push_back(member.value);
  });
  return found;
}

std::string with_empty_lists(std::string_view result, const std::vector<wire::Span>& lists) {
  std::string shown;
  std::size_t done = 0;
  for (const wire::Span& list : lists) {
    shown.append(result.substr(done, list.begin - done)).append("[]");
    done = list.end;
  }
  return shown.append(result.substr(done));
}

}  // namespace

std::optional<ToolEffects> effects_of_tools(std::string_view result) {
  const std::string_view tools = wire::member(result, "tools").in(result);
  const std::optional<std::vector<wire::Span>> elements = wire::array_elements(tools, wire::kMostElements);
  if (!elements || elements->empty() || has_more_pages(result)) return std::nullopt;
  if (elements->size() > wire::kMostElements) return std::nullopt;
  const bool all = std::all_of(elements->begin(), elements->end(),
                               [tools](wire::Span tool) { return is_read_only(tool.in(tools)); });
  return all ? ToolEffects::ReadOnly : ToolEffects::MayChange;
}

bool is_too_long_for_a_tool(std::string_view written_name) {
  constexpr std::size_t kLongest = 1024;
  constexpr std::size_t kQuotes = 2;
  return written_name.size() > kLongest + kQuotes;
}

std::string without_tools(std::string_view result, const std::function<bool(std::string_view)>& allowed) {
  const std::vector<wire::Span> lists = tool_lists(result);
  if (lists.empty()) return std::string(result);
  const wire::Span place = lists.front();
  const std::string_view tools = place.in(result);
  const std::optional<std::vector<wire::Span>> elements = wire::array_elements(tools, wire::kMostElements);
  const bool readable = lists.size() == 1 && elements && elements->size() <= wire::kMostElements;
  if (!readable) return with_empty_lists(result, lists);
  if (elements->empty()) return std::string(result);

  std::string kept;
  std::size_t previous_end = 0;
  for (const wire::Span& element : *elements) {
    const std::string_view tool = element.in(tools);
    const std::string_view written = wire::member(tool, "name").in(tool);
    const auto name = is_too_long_for_a_tool(written) ? std::nullopt : wire::string_value(written);
    if (name && allowed(*name)) {
      // Before the first element is the bracket, before every other one a comma.
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
