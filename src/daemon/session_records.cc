#include "daemon/session_records.h"

#include <utility>

#include "base/units.h"
#include "base/utc_time.h"
#include "wire/json_text.h"

namespace corral::daemon {
namespace {

std::chrono::milliseconds age_of(const session::Session& session) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - session.record().since);
}

/// Clients choose their names freely, so the registry keeps only the beginning.
std::string shortened(std::string text) {
  constexpr std::size_t kLongestName = 200;
  if (text.size() > kLongestName) text.resize(kLongestName);
  return text;
}

}  // namespace

void SessionRecords::detached(const ConnectedSession& connected) {
  const session::Session& session = connected.session();
  events::Event event;
  event.kind = events::Kind::Detach;
  event.server = session.attachment().server();
  event.instance = connected.instance.text();
  event.session = session.id().value();
  event.pid = connected.client_pid();
  event.cause = session.record().reason;
  event.took = age_of(session);
  event.text = "session " + to_string(session.id()) + " with server " + session.attachment().server() +
               ": ended after " + show_age(*event.took) + " (" + event.cause + ")";
  keep(connected, unix_time_ms());
  records_.events().tell(std::move(event));
}

void SessionRecords::refused(const RefusedClient& client) {
  const auto line = shares_.account(client.principal).loggable("refused: " + client.why);
  if (!line) return records_.failures().refused_without_event();
  events::Event event;
  event.kind = events::Kind::Refused;
  event.server = client.server;
  event.pid = client.process;
  event.cause = client.cause;
  event.text = *line;
  records_.events().tell(std::move(event));
}

void SessionRecords::keep(const ConnectedSession& connected, std::int64_t ended_ms) {
  const session::Session& session = connected.session();
  const std::string& info = session.client().info;
  registry::SessionRecord record;
  record.daemon = records_.self().id;
  record.id = session.id().value();
  record.server = session.attachment().server();
  record.instance = connected.instance.text();
  record.client_name = shortened(wire::string_member(info, "name").value_or(""));
  record.client_version = shortened(wire::string_member(info, "version").value_or(""));
  record.client_pid = connected.client_pid();
  record.transport = connected.transport;
  record.opened_ms = unix_time_ms() - age_of(session).count();
  record.ended_ms = ended_ms;
  if (ended_ms != 0) record.reason = session.record().reason;
  records_.registry().keep(record);
}

}  // namespace corral::daemon
