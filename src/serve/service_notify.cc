#include "serve/service_notify.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace corral::serve {
namespace {

std::optional<std::int64_t> positive_number(const char* text) {
  const std::string_view view(text);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), number);
  if (error != std::errc{} || end != view.data() + view.size() || number <= 0) return std::nullopt;
  return number;
}

}  // namespace

std::string notify_address(std::string_view named) {
  sockaddr_un address{};
  const bool abstract = named.starts_with('@');
  if ((!abstract && !named.starts_with('/')) || named.size() < 2) return "";
  if (named.size() >= sizeof address.sun_path) return "";
  address.sun_family = AF_UNIX;
  memcpy(address.sun_path, named.data(), named.size());
  if (abstract) address.sun_path[0] = '\0';
  // An abstract name is not terminated; its length is its end.
  const std::size_t length = offsetof(sockaddr_un, sun_path) + named.size() + (abstract ? 0 : 1);
  return {reinterpret_cast<const char*>(&address), length};
}

std::optional<std::chrono::microseconds> watchdog_period(const char* usec, const char* pid, pid_t self) {
  if (usec == nullptr) return std::nullopt;
  const std::optional<std::int64_t> period = positive_number(usec);
  if (!period) return std::nullopt;
  if (pid != nullptr && positive_number(pid) != self) return std::nullopt;
  return std::chrono::microseconds(*period) / 2;
}

ServiceNotify ServiceNotify::from_environment() {
  ServiceNotify notify;
  const char* named = getenv("NOTIFY_SOCKET");
  if (named != nullptr) notify.address_ = notify_address(named);
  if (!notify.address_.empty()) {
    notify.socket_ = UniqueFd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    notify.watchdog_period_ =
        serve::watchdog_period(getenv("WATCHDOG_USEC"), getenv("WATCHDOG_PID"), getpid());
  }
  for (const char* variable : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) unsetenv(variable);
  return notify;
}

void ServiceNotify::send(const std::string& message) const {
  if (!socket_.valid()) return;
  const auto* address = reinterpret_cast<const sockaddr*>(address_.data());
  sendto(socket_.get(), message.data(), message.size(), MSG_NOSIGNAL, address,
         static_cast<socklen_t>(address_.size()));
}

}  // namespace corral::serve
