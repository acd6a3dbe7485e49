#include "router/own_requests.h"

#include <utility>

#include "wire/json_text.h"

namespace corral::router {
namespace {

constexpr std::chrono::seconds kConfirmPatience{10};  // sessions wait for it

/// A listen stays open, and HealthWatch judges how long a probe takes.
bool has_time_limit(Purpose purpose) { return purpose != Purpose::Probe && purpose != Purpose::ListenForAll; }

}  // namespace

CallId OwnRequests::ask(std::string_view method, std::string_view params, Call call) {
  const CallId id = server_->next_id();
  call.patience = call.purpose == Purpose::ConfirmTools ? kConfirmPatience : call_timeout_;
  if (has_time_limit(call.purpose)) call.deadline = Clock::now() + call.patience;
  const Clock::time_point deadline = call.deadline;
  calls_.add(id, std::move(call));
  server_->send(wire::request_message(to_string(id), method, params));
  deadlines_.watch(deadline);
  return id;
}

std::optional<Call> OwnRequests::give_up(CallId id, std::string_view reason) {
  if (!lost_) server_->send(wire::cancelled_message(to_string(id), reason));
  return calls_.cancel(id, Clock::now());
}

}  // namespace corral::router
