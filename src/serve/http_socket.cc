#include "serve/http_socket.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <tuple>

#include "base/ip_address.h"
#include "base/secrets.h"
#include "base/text.h"
#include "survey/listeners.h"
#include "survey/process_table.h"

namespace corral::serve {
namespace {

Error port_taken(std::uint16_t port) {
  return Error{"port " + std::to_string(port) + " is taken by " + owner_of_port(port) +
               "; choose another with --port, or any free one with --port 0"};
}

Error cannot_listen_at(const IpAddress& address, int error) {
  const std::string place = address.host() + ":" + std::to_string(address.port());
  const bool privileged = error == EACCES && address.port() != 0;
  const char* const help = privileged               ? "; choose a port from 1024 on with --port"
                           : error == EADDRNOTAVAIL ? "; this machine has no such address: correct --bind"
                                                    : "; choose another --bind or --port";
  return Error{"cannot listen at " + place + ": " + strerror(error) + help};
}

Result<void> check_address(const IpAddress& address, Reach reach) {
  if (address.is_loopback() || reach == Reach::Anywhere) return {};
  return Error{"other machines could reach " + address.host() +
               " without a token: create one first with `corral token create NAME`, or use --bind 127.0.0.1"};
}

std::string shown_owner(pid_t pid, const survey::ProcessTable& table) {
  const survey::Process* const process = table.find(pid);
  std::string name = "process " + std::to_string(pid);
  if (process == nullptr) return name;
  return name + " (" + (process->argv.empty() ? printable(process->comm) : show_command(process->argv)) + ")";
}

}  // namespace

std::string owner_of_port(std::uint16_t port) {
  const Result<survey::ProcessTable> table = survey::ProcessTable::read();
  std::optional<uid_t> owner;
  for (const survey::ListeningSocket& socket : survey::read_listening_sockets()) {
    if (socket.port != port) continue;
    owner = socket.uid;
    if (!table) continue;
    for (const survey::Holding& holding : table->holders(socket.inode)) {
      if (holding.socket) return shown_owner(holding.pid, *table);
    }
  }
  if (!owner) return "a process that is not visible from here";
  if (*owner == geteuid())
    return "one of your processes that is not visible from here, perhaps in a container";
  return "another user's process (user " + std::to_string(*owner) + ")";
}

Result<UniqueFd> listen_on(const std::string& bind, std::uint16_t port, Reach reach) {
  std::optional<IpAddress> address = parse_ip_address(bind);
  if (!address) {
    return Error{"'" + printable(bind) +
                 "' is not an IP address: give --bind 127.0.0.1, ::1 or another numeric address"};
  }
  const Result<void> allowed = check_address(*address, reach);
  if (!allowed) return allowed.error();
  address->set_port(port);
  UniqueFd listening(socket(address->bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listening.valid()) return cannot_listen_at(*address, errno);
  const int on = 1;
  // Connections of an earlier daemon that are still closing must not block the port.
  setsockopt(listening.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  // An IPv6 socket must not also accept IPv4, whatever the default of this machine is.
  if (address->bytes.ss_family == AF_INET6) {
    setsockopt(listening.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  }
  const auto* const where = reinterpret_cast<const sockaddr*>(&address->bytes);
  if (::bind(listening.get(), where, address->size) == 0 && listen(listening.get(), SOMAXCONN) == 0)
    return listening;
  return errno == EADDRINUSE ? port_taken(port) : cannot_listen_at(*address, errno);
}

Result<UniqueFd> open_tcp_socket(const ServeOptions& options, const config::Http& http, UniqueFd passed,
                                 Reach reach) {
  if (passed.valid()) {
    const Result<void> allowed = check_reach(passed.get(), reach);
    if (!allowed) return allowed.error();
    return passed;
  }
  const std::optional<std::uint16_t> port = options.port ? options.port : http.port;
  if (!port && !options.bind.empty()) {
    return Error{"--bind needs a port to listen on: add --port 8765"};
  }
  if (!port) return UniqueFd();
  return listen_on(options.bind.empty() ? http.bind : options.bind, *port, reach);
}

Result<void> check_reach(int socket, Reach reach) {
  const std::optional<IpAddress> address = bound_address(socket);
  if (!address)
    return Error{"the socket that the service manager passed is not a TCP socket: correct ListenStream="};
  return check_address(*address, reach);
}

Result<void> check_locks(const ServeOptions& options, const config::Configuration& configuration) {
  for (const auto& [key, name, given] : {std::tuple{"http.port", "--port", options.port.has_value()},
                                         std::tuple{"http.bind", "--bind", !options.bind.empty()}}) {
    const config::FilePlace* const lock = given ? configuration.lock_of(key) : nullptr;
    if (lock == nullptr) continue;
    const std::string locks = "because " + lock->text() + " locks \"" + key + "\". ";
    if (!options.command.empty() && options.bind.empty()) {  // it has a port even if no option names one
      return Error{
          "a command that is served alone cannot have a port of its own, " + locks +
          "Configure it with `corral add NAME -- COMMAND`, or ask the administrator of this machine."};
    }
    return Error{std::string(name) + " has no effect, " + locks +
                 "Leave it out, or ask the administrator of this machine."};
  }
  return {};
}

Result<void> check_locks(int socket, const config::Configuration& configuration) {
  const config::Http& http = configuration.options.http;
  const std::optional<IpAddress> address = bound_address(socket);
  const std::optional<IpAddress> allowed = parse_ip_address(http.bind);
  const bool other_port =
      !address || (http.port != address->port() && http.port != std::optional<std::uint16_t>(0));
  const bool other_address = !address || !allowed || address->host() != allowed->host();
  for (const auto& [key, differs] :
       {std::pair{"http.port", other_port}, std::pair{"http.bind", other_address}}) {
    const config::FilePlace* const lock = differs ? configuration.lock_of(key) : nullptr;
    if (lock == nullptr) continue;
    return Error{"the service manager opened the port " + std::to_string(port_of(socket)) + ", but " +
                 lock->text() + " locks \"" + key +
                 "\". Remove its ListenStream= from corral.socket (`corral service install` without "
                 "--port), or ask the administrator of this machine."};
  }
  return {};
}

std::uint16_t port_of(int socket) {
  const std::optional<IpAddress> address = bound_address(socket);
  return address ? address->port() : std::uint16_t{0};
}

std::string host_of(int socket) {
  const std::optional<IpAddress> address = bound_address(socket);
  if (!address) return "127.0.0.1";
  const std::string host = address->host();
  return host == "0.0.0.0" ? "127.0.0.1" : host == "[::]" ? "[::1]" : host;
}

std::string url_of(int socket) {
  const std::optional<IpAddress> address = bound_address(socket);
  if (!address) return "";
  return "http://" + host_of(socket) + ":" + std::to_string(address->port());
}

}  // namespace corral::serve
