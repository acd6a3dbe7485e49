#include "bridge/vocabulary.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "wire/json_text.h"
#include "wire/revisions.h"

namespace corral::bridge {

namespace {

using wire::Span;

std::vector<Change> without(std::string_view object,
                            const std::function<bool(std::string_view key, wire::Member)>& unwanted) {
  std::vector<Change> changes;
  for (const Span cut : wire::cuts(object, unwanted)) changes.push_back({cut, {}});
  return changes;
}

std::string text_block(std::string_view text, std::string_view block) {
  std::string out = R"({"type":"text","text":)" + wire::quoted(text);
  const Span annotations = wire::member(block, "annotations");
  if (annotations.present()) out.append(R"(,"annotations":)").append(annotations.in(block));
  return out + "}";
}

std::string audio_note(std::string_view block) {
  const std::string type = wire::string_member(block, "mimeType").value_or("of unknown type");
  return text_block("[Audio (" + type + ") left out: this client's version of MCP has no audio content.]",
                    block);
}

std::string link_note(std::string_view block) {
  std::string note = "Resource: " + wire::string_member(block, "uri").value_or("without a URI");
  const std::optional<std::string> title = wire::string_member(block, "title");
  const std::optional<std::string> name = title ? title : wire::string_member(block, "name");
  if (name) note += " (" + *name + ")";
  if (const auto description = wire::string_member(block, "description")) note += "\n" + *description;
  return text_block(note, block);
}

/// The replacement for one content block, if it needs one.
std::optional<std::string> other_words(std::string_view block, const Vocabulary& vocabulary) {
  const std::optional<std::string> type = wire::string_member(block, "type");
  if (type == "audio" && !vocabulary.audio) return audio_note(block);
  if (type == "resource_link" && !vocabulary.resource_links) return link_note(block);
  return std::nullopt;
}

/// Content is a block or an array of blocks.
std::vector<Change> content_changes(std::string_view content, const Vocabulary& vocabulary) {
  std::vector<Change> changes;
  if (vocabulary.audio && vocabulary.resource_links) return changes;
  if (wire::is_object(content)) {
    if (auto words = other_words(content, vocabulary)) changes.push_back({{0, content.size()}, *words});
    return changes;
  }
  const std::optional<std::vector<Span>> blocks = wire::array_elements(content, wire::kMostElements);
  if (!blocks || blocks->size() > wire::kMostElements) return changes;
  for (const Span block : *blocks) {
    if (auto words = other_words(block.in(content), vocabulary)) changes.push_back({block, *words});
  }
  return changes;
}

std::vector<Change> tool_changes(std::string_view tool, const Vocabulary& vocabulary) {
  return without(tool, [&](std::string_view key, wire::Member member) {
    if (key != "outputSchema") return false;
    if (!vocabulary.structured) return true;
    const std::string_view schema = member.value.in(tool);
    return !vocabulary.any_structure && wire::string_member(schema, "type") != "object";
  });
}

std::vector<Change> message_changes(std::string_view message, const Vocabulary& vocabulary) {
  std::vector<Change> changes;
  const Span content = wire::member(message, "content");
  add_changes(changes, content_changes(content.in(message), vocabulary), content.begin);
  return changes;
}

template <class EachChanges>
std::vector<Change> array_changes(std::string_view array, EachChanges each_changes) {
  std::vector<Change> changes;
  const std::optional<std::vector<Span>> elements = wire::array_elements(array, wire::kMostElements);
  if (!elements || elements->size() > wire::kMostElements) return changes;
  for (const Span element : *elements) {
    add_changes(changes, each_changes(element.in(array)), element.begin);
  }
  return changes;
}

bool is_modern_member(std::string_view key) {
  return key == "resultType" || key == "ttlMs" || key == "cacheScope";
}

/// The changes inside the one member that holds the method's content.
std::vector<Change> inner_changes(std::string_view method, std::string_view key, std::string_view value,
                                  const Vocabulary& vocabulary) {
  if (method == "tools/call" && key == "content") return content_changes(value, vocabulary);
  if (method == "prompts/get" && key == "messages") {
    return array_changes(value,
                         [&](std::string_view message) { return message_changes(message, vocabulary); });
  }
  if (method == "tools/list" && key == "tools" && !(vocabulary.structured && vocabulary.any_structure)) {
    return array_changes(value, [&](std::string_view tool) { return tool_changes(tool, vocabulary); });
  }
  return {};
}

}  // namespace

Vocabulary legacy_vocabulary(std::string_view version) {
  const wire::Revision& revision = wire::legacy_revision(version);
  Vocabulary known;
  known.audio = revision.audio;
  known.resource_links = revision.resource_links;
  known.structured = revision.structured;
  return known;
}

std::vector<Change> result_changes(std::string_view method, std::string_view result,
                                   const Vocabulary& vocabulary) {
  if (vocabulary.complete()) return {};
  std::vector<Change> changes;
  std::vector<Change> outer = without(result, [&](std::string_view key, wire::Member member) {
    const std::string_view value = member.value.in(result);
    if (!vocabulary.modern_members && is_modern_member(key)) return true;
    if (method == "tools/call" && key == "structuredContent") {
      return !vocabulary.structured || (!vocabulary.any_structure && !wire::is_object(value));
    }
    add_changes(changes, inner_changes(method, key, value, vocabulary), member.value.begin);
    return false;
  });
  add_changes(changes, std::move(outer), 0);
  sort_by_place(changes);
  return changes;
}

}  // namespace corral::bridge
