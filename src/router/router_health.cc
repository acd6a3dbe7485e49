// How the server fares: whether it still lives, and whether it still shows what the one before it showed.
#include "base/log.h"
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

}  // namespace

void Router::watch_health(Clock::duration after) {
  health_timer_.start(after, [this] { look_at_health(); });
}

void Router::look_at_health() {
  using Advice = server::Health::Advice;
  const bool busy = calls_.awaited() > 0 || instance_->congested() || paused_;
  const server::Health::Look look = health_->look(Clock::now(), busy, said_);
  if (look.advice == Advice::Hung) {
    log_line("server " + options_.server + " does not answer and is ended");
    return owner_.router_hung(*this);
  }
  if (look.advice == Advice::AskAgain) ++counters_.missed_probes;
  if (look.advice != Advice::Wait || !health_->asking()) calls_.cancel(probe_, Clock::now());
  if (look.advice != Advice::Wait) probe();
  watch_health(look.next);
}

void Router::probe() {
  const bool modern = instance_->handshake().era() == server::Era::Modern;
  probe_ = ask(modern ? "server/discover" : "ping", modern ? server::discover_params() : "{}",
               {.purpose = Purpose::Probe});
}

std::optional<ListKind> list_kind_of(std::string_view method) {
  for (std::size_t kind = 0; kind < kListKinds; ++kind) {
    if (method == kLists[kind].method) return static_cast<ListKind>(kind);
  }
  return std::nullopt;
}

void Router::compare_list(SessionPort& port, ListKind kind) {
  Listed& listed = listed_[static_cast<std::size_t>(kind)];
  if (listed.digest) return port.list_now(kind, *listed.digest);
  if (std::exchange(listed.asked, true)) return;
  ask(kLists[static_cast<std::size_t>(kind)].method, "{}", {.purpose = Purpose::CompareList, .list = kind});
}

/// Of a list in several pages we have seen only the first: each instance shows another one, for all we know.
std::size_t Router::digest_of(ListKind kind, std::string_view result) const {
  const auto text = [result](const char* member) { return wire::member(result, member).in(result); };
  const std::hash<std::string_view> digest;
  const std::size_t list = digest(text(kLists[static_cast<std::size_t>(kind)].answer));
  return text("nextCursor").empty() ? list : list ^ digest(instance_->id());
}

}  // namespace corral::router
