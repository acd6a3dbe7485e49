// How the server fares: whether it still lives, and whether it still shows what the one before it showed.
#include "base/log.h"
#include "bridge/legacy_client.h"
#include "router/router.h"
#include "wire/json_text.h"

namespace corral::router {
namespace {

struct ListNames {
  const char* method;
  const char* answer;  // the member of the result that counts
};
constexpr std::array<ListNames, kListKinds> kLists = {{
    {"tools/list", "tools"},
    {"prompts/list", "prompts"},
    {"resources/list", "resources"},
    {"resources/templates/list", "resourceTemplates"},
}};

/// An instance lists this now: a client that has seen another list is told.
void list_is_now(SessionPort& port, ListKind kind, std::size_t digest) {
  if (port.memory().list_differs(kind, digest)) port.list_changed(changed_list_of(kind));
}

}  // namespace

void Router::watch_health(Clock::duration after) {
  health_timer_.start(after, [this] { look_at_health(); });
}

void Router::look_at_health() {
  using Advice = instance::Health::Advice;
  const bool busy = calls_.awaited() > 0 || instance_->congested() || paused_;
  const instance::Health::Look look = health_->look(Clock::now(), busy, said_);
  if (look.advice == Advice::Hung) {
    log_line("server " + options_.server + " does not answer and is ended");
    return listener_.on_hung(*this);
  }
  if (look.advice == Advice::AskAgain) ++counters_.missed_probes;
  if (look.advice != Advice::Wait || !health_->asking()) calls_.cancel(probe_, Clock::now());
  if (look.advice != Advice::Wait) probe();
  watch_health(look.next);
}

void Router::probe() {
  probe_ = ask(modern() ? "server/discover" : "ping", modern() ? instance::discover_params() : "{}",
               {.purpose = Purpose::Probe});
}

std::optional<ListKind> list_kind_of(std::string_view method) {
  for (std::size_t kind = 0; kind < kListKinds; ++kind) {
    if (method == kLists[kind].method) return static_cast<ListKind>(kind);
  }
  return std::nullopt;
}

void Router::compare_list(SessionPort& port, ListKind kind) {
  const char* const method = kLists[static_cast<std::size_t>(kind)].method;
  if (modern()) {     // may show each client another list, so each is compared by itself
    has_asked(port);  // it hears what the client says of itself, and may repeat it on stderr
    const std::string params = R"({"_meta":{)" + bridge::modern_meta(port.introduction(), "") + "}}";
    ask(method, params, {.purpose = Purpose::CompareList, .list = kind, .on_behalf_of = port.id()});
    return;
  }
  Listed& listed = listed_[static_cast<std::size_t>(kind)];
  if (listed.digest) return list_is_now(port, kind, *listed.digest);
  if (std::exchange(listed.asked, true)) return;
  ask(method, "{}", {.purpose = Purpose::CompareList, .list = kind});
}

void Router::compared(const Call& call, std::string_view result) {
  const std::size_t digest = digest_of(*call.list, result);
  if (!modern()) listed_[static_cast<std::size_t>(*call.list)].digest = digest;
  bool learned = false;
  for (const SessionId session : session_ids()) {
    if (modern() && session != call.on_behalf_of) continue;
    SessionPort* const port = port_of(session);
    if (port == nullptr) continue;
    if (!std::exchange(learned, true)) learn(*port, *call.list, result);
    list_is_now(*port, *call.list, digest);
  }
}

/// The list is another one now than the one that was compared.
void Router::forget_compared(ChangedList list) {
  for (std::size_t kind = 0; kind < kListKinds; ++kind) {
    if (std::string_view(kLists[kind].method).starts_with(name_of(list))) listed_[kind] = {};
  }
}

/// A list in several pages is not kept: what its cursors mean only this instance knows.
void Router::learn(const SessionPort& port, ListKind kind, std::string_view result) {
  if (!wire::member(result, "nextCursor").present()) learner_.on_list(port, kind, result);
}

/// Of a list in several pages we have seen only the first: each instance shows another one, for all we know.
std::size_t Router::digest_of(ListKind kind, std::string_view result) const {
  const std::size_t list = list_digest(kind, result);
  const bool whole = !wire::member(result, "nextCursor").present();
  return whole ? list : list ^ std::hash<std::string_view>{}(instance_->id().text());
}

std::size_t list_digest(ListKind kind, std::string_view result) {
  const char* const answer = kLists[static_cast<std::size_t>(kind)].answer;
  return std::hash<std::string_view>{}(wire::member(result, answer).in(result));
}

}  // namespace corral::router
