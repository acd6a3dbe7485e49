#include "router/list_watch.h"

#include <functional>
#include <utility>

#include "bridge/legacy_client.h"
#include "wire/json_text.h"

namespace corral::router {
namespace {

struct ListNames {
  const char* method;
  const char* member;  // of the result: the list itself
};
constexpr std::array<ListNames, kListKinds> kLists = {{
    {"tools/list", "tools"},
    {"prompts/list", "prompts"},
    {"resources/list", "resources"},
    {"resources/templates/list", "resourceTemplates"},
}};

const ListNames& names_of(ListKind kind) { return kLists[static_cast<std::size_t>(kind)]; }

bool has_more_to_come(std::string_view result) { return wire::member(result, "nextCursor").present(); }

/// An instance lists this now: a client that has seen another list is told.
void list_is_now(SessionPort& port, ListKind kind, std::size_t digest) {
  if (port.memory().list_differs(kind, digest)) port.list_changed(changed_list_of(kind));
}

}  // namespace

std::optional<ListKind> list_kind_of(std::string_view method) {
  for (std::size_t kind = 0; kind < kListKinds; ++kind) {
    if (method == kLists[kind].method) return static_cast<ListKind>(kind);
  }
  return std::nullopt;
}

std::size_t list_digest(ListKind kind, std::string_view result) {
  return std::hash<std::string_view>{}(wire::member(result, names_of(kind).member).in(result));
}

ListWatch::ListWatch(const AttachedSessions& sessions, Learner& learner, Ask ask)
    : sessions_(sessions), learner_(learner), ask_(std::move(ask)) {}

void ListWatch::opened(knowledge::Era era, std::string_view instance) {
  modern_ = era == knowledge::Era::Modern;
  instance_hash_ = std::hash<std::string_view>{}(instance);
}

void ListWatch::compare(SessionPort& port, ListKind kind) {
  if (modern_) {
    const std::string params = R"({"_meta":{)" + bridge::modern_meta(port.introduction(), "") + "}}";
    ask_(names_of(kind).method, params,
         {.purpose = Purpose::CompareList, .list = kind, .on_behalf_of = port.id()});
    return;
  }
  Listed& listed = listed_[static_cast<std::size_t>(kind)];
  if (listed.digest) return list_is_now(port, kind, *listed.digest);
  if (std::exchange(listed.asked, true)) return;
  ask_(names_of(kind).method, "{}", {.purpose = Purpose::CompareList, .list = kind});
}

void ListWatch::answered(const Call& call, std::string_view result) {
  const std::size_t digest = digest_of(*call.list, result);
  if (!modern_) listed_[static_cast<std::size_t>(*call.list)].digest = digest;
  bool learned = false;
  sessions_.each([&](SessionPort& port) {
    if (modern_ && port.id() != call.on_behalf_of) return;
    if (!std::exchange(learned, true)) learn(port, *call.list, result);
    list_is_now(port, *call.list, digest);
  });
}

void ListWatch::given(SessionPort& port, ListKind kind, std::string_view result) {
  port.memory().list_given(kind, digest_of(kind, result));
  learn(port, kind, result);
}

void ListWatch::changed(ChangedList list) {
  for (std::size_t kind = 0; kind < kListKinds; ++kind) {
    if (changed_list_of(static_cast<ListKind>(kind)) == list) listed_[kind] = {};
  }
}

/// A list of several pages is not kept: only this instance knows what its cursors mean.
void ListWatch::learn(const SessionPort& port, ListKind kind, std::string_view result) {
  if (!has_more_to_come(result)) learner_.on_list(port, kind, result);
}

/// Of a list of several pages only the first was seen, so the lists of two instances count as different.
std::size_t ListWatch::digest_of(ListKind kind, std::string_view result) const {
  const std::size_t list = list_digest(kind, result);
  return has_more_to_come(result) ? list ^ instance_hash_ : list;
}

}  // namespace corral::router
