// What the hub tells of its sessions: to the stream, and to the registry.
#include <algorithm>
#include <charconv>

#include "base/units.h"
#include "daemon/hub_impl.h"
#include "wire/json_text.h"

namespace corral::daemon {
namespace {

std::int64_t now_ms() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
}

std::string shortened(std::string text) {
  constexpr std::size_t kLongestName = 200;  // of a client, which says what it likes
  if (text.size() > kLongestName) text.resize(kLongestName);
  return text;
}

}  // namespace

void Hub::Impl::seat(Guests::iterator guest) {
  seats[&guest->session()] = guest;
  by_number[guest->session().id()] = guest;
}

/// From when it is attached: before that it is nobody yet.
void Hub::Impl::hear(const events::Event& event) {
  if (event.kind != events::Kind::Attach) return;
  const auto found = by_number.find(SessionId(event.session));
  if (found == by_number.end()) return;
  found->second->instance = InstanceId(event.instance);
  keep_session(*found->second, 0);
}

void Hub::Impl::keep_session(const Guest& guest, std::int64_t ended_ms) {
  const session::Session& session = guest.session();
  const std::string& info = session.client_info();
  const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - session.since());
  registry::SessionRecord record;
  record.daemon = records.self().id;
  record.id = session.id().value();
  record.server = session.server();
  record.instance = guest.instance.text();
  record.client_name = shortened(wire::string_member(info, "name").value_or(""));
  record.client_version = shortened(wire::string_member(info, "version").value_or(""));
  record.client_pid = guest.client_pid();
  record.transport = guest.transport;
  record.opened_ms = now_ms() - age.count();
  record.ended_ms = ended_ms;
  if (ended_ms != 0) record.reason = session.reason();
  records.registry().keep(record);
}

void Hub::Impl::tell_detached(const Guest& guest) {
  const session::Session& session = guest.session();
  events::Event event;
  event.kind = events::Kind::Detach;
  event.server = session.server();
  event.instance = guest.instance.text();
  event.session = session.id().value();
  event.pid = guest.client_pid();
  event.cause = session.reason();
  event.took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - session.since());
  event.text = "session " + to_string(session.id()) + " with server " + session.server() + ": over after " +
               show_age(*event.took) + " (" + event.cause + ")";
  keep_session(guest, now_ms());
  records.events().tell(std::move(event));
}

/// Whoever is refused a thousand times a second is told of so often, but the log and the registry are not.
void Hub::Impl::tell_refused(const std::string& server, const std::string& cause, const std::string& why,
                             pid_t process, const std::string& principal) {
  const auto line = shares.account(principal).loggable("refused: " + why);
  if (!line) return;
  events::Event event;
  event.kind = events::Kind::Refused;
  event.server = server;
  event.pid = process;
  event.cause = cause;
  event.text = *line;
  records.events().tell(std::move(event));
}

void Hub::Impl::tell_reload(const std::string& cause, const std::string& text) {
  events::Event event;
  event.kind = events::Kind::Reload;
  event.cause = cause;
  event.text = text;
  records.events().tell(std::move(event));
}

/// A session that is no object, by its number. False if there is none.
bool Hub::Impl::end_guest(const std::string& number,
                          const std::function<void(const SessionEvidence&)>& tell) {
  std::uint64_t id = 0;
  const char* const end = number.data() + number.size();
  const auto [rest, error] = std::from_chars(number.data(), end, id);
  const auto found = error == std::errc() && rest == end ? by_number.find(SessionId(id)) : by_number.end();
  if (found == by_number.end() || found->second->session().ended()) return false;
  const Clock::time_point began = Clock::now();
  session::Session& session = found->second->session();
  const router::Router* const router = session.router();
  const Kept used{session.server(), router != nullptr ? router->instance()->id() : InstanceId(), 0};
  session.end(session::EndReason::SessionEnded, [this, still = std::weak_ptr<bool>(alive), number, used,
                                                 began, tell](const pool::InstanceEnd* gone) {
    if (still.expired()) return;
    SessionEvidence evidence;
    evidence.id = number;
    if (gone != nullptr) {
      evidence.ended.push_back(*gone);
    } else if (used.instance) {
      evidence.kept.push_back({used.server, used.instance, sessions_of(used.instance)});
    }
    evidence.took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began);
    tell(evidence);
  });
  return true;
}

std::size_t Hub::Impl::sessions_of(const InstanceId& instance) const {
  for (const pool::Slot& slot : pool.slots()) {
    if (slot.router() && slot.router()->instance()->id() == instance) return slot.router()->sessions().size();
  }
  return 0;
}

observe::Snapshot Hub::snapshot() const { return impl_->snapshot(nullptr); }

void Hub::measured_snapshot(std::function<void(const observe::Snapshot&)> done) {
  impl_->measured_snapshot(std::move(done));
}

Records& Hub::records() { return impl_->records; }

void Hub::describe_pid_file_with(std::function<observe::PidFileView()> describe) {
  impl_->pid_file = std::move(describe);
}

bool Hub::recycles() const {
  const auto& places = impl_->pool.slots();
  return std::any_of(places.begin(), places.end(),
                     [](const pool::Slot& slot) { return slot.router() && slot.spec().recycle; });
}

void Hub::recycle_large(const observe::Snapshot& measured) {
  for (const observe::InstanceView& instance : measured.instances) {
    if (!instance.limits.recycle || !instance.usage || instance.usage->memory <= *instance.limits.recycle)
      continue;
    impl_->pool.recycle(InstanceId(instance.id),
                        "instance " + instance.id.substr(0, 8) + " of server " + instance.server + " uses " +
                            show_size(instance.usage->memory) + ", more than \"recycle\" (" +
                            show_size(*instance.limits.recycle) +
                            "): another one takes its place after its calls");
  }
}

}  // namespace corral::daemon
