#include "daemon/connected_sessions.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace corral::daemon {

ConnectedSession& ConnectedSessions::add(ConnectedSession connected) {
  const SessionId id = connected.session().id();
  return sessions_.emplace(id, std::move(connected)).first->second;
}

ConnectedSession* ConnectedSessions::find(SessionId id) {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : &found->second;
}

ConnectedSession* ConnectedSessions::find(std::string_view number) {
  std::uint64_t id = 0;
  const char* const end = number.data() + number.size();
  const auto [rest, error] = std::from_chars(number.data(), end, id);
  return error == std::errc() && rest == end ? find(SessionId(id)) : nullptr;
}

std::size_t ConnectedSessions::without_instance() const {
  return static_cast<std::size_t>(std::count_if(sessions_.begin(), sessions_.end(), [](const auto& entry) {
    const ConnectedSession& connected = entry.second;
    const session::Session& session = connected.session();
    return connected.stdio && !session.ended() && session.attachment().will_want_instance();
  }));
}

}  // namespace corral::daemon
