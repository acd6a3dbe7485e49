#include "control/confinement.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>

#include "base/unique_fd.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77  // Linux 6.5; newer than the C library's headers
#endif

namespace corral::control {
namespace {

struct Namespace {
  const char* file;
  const char* phrase;
};

constexpr std::array<Namespace, Surroundings::kNamespaces> kNamespaces = {{
    {"user", "its own user namespace"},
    {"mnt", "its own mount namespace"},
    {"pid", "its own PID namespace"},
    {"net", "its own network namespace"},
}};

std::optional<unsigned> number_after(std::string_view text, std::string_view key) {
  std::size_t at = text.starts_with(key) ? 0 : text.find("\n" + std::string(key));
  if (at == std::string_view::npos) return std::nullopt;
  at += key.size() + (text[at] == '\n' ? 1 : 0);
  while (at < text.size() && (text[at] == '\t' || text[at] == ' ')) ++at;
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  return value;
}

std::optional<std::string> link_text(const std::string& path) {
  std::array<char, 64> text;
  const ssize_t size = readlink(path.c_str(), text.data(), text.size());
  if (size <= 0) return std::nullopt;
  return std::string(text.data(), static_cast<std::size_t>(size));
}

std::string small_file(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text(8192, '\0');  // the kernel writes less than 2,000 bytes
  const ssize_t size = file.valid() ? read(file.get(), text.data(), text.size()) : -1;
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return text;
}

/// Refers to the process at the other end, never to a later one with the same pid.
UniqueFd peer_pidfd(int socket, pid_t pid) {
  int pidfd = -1;
  socklen_t size = sizeof pidfd;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &size) == 0) return UniqueFd(pidfd);
  // Before Linux 6.5. The peer has just connected, so it normally still runs. If its pid is reused while we
  // look, we notice; if it was reused before, we do not.
  return UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
}

bool alive(int pidfd) {
  pollfd state{pidfd, POLLIN, 0};
  return poll(&state, 1, 0) == 0;
}

void add(std::string& phrase, std::string_view what) {
  if (!phrase.empty()) phrase += ", ";
  phrase += what;
}

/// A larger number means more confined, and so does one that could not be read.
bool exceeds(const std::optional<unsigned>& peer, const std::optional<unsigned>& own) {
  return !peer || *peer > own.value_or(0);
}

}  // namespace

void read_status(std::string_view status, Surroundings& surroundings) {
  surroundings.no_new_privs = number_after(status, "NoNewPrivs:");
  surroundings.seccomp = number_after(status, "Seccomp:");
  surroundings.seccomp_filters = number_after(status, "Seccomp_filters:");
}

std::string more_confined(const Surroundings& peer, const Surroundings& own) {
  std::string phrase;
  bool unreadable = false;
  for (std::size_t i = 0; i < kNamespaces.size(); ++i) {
    if (!peer.namespaces[i] || !own.namespaces[i]) {
      unreadable = true;
    } else if (*peer.namespaces[i] != *own.namespaces[i]) {
      add(phrase, kNamespaces[i].phrase);
    }
  }
  if (!peer.no_new_privs || !peer.seccomp) unreadable = true;
  if (peer.no_new_privs && exceeds(peer.no_new_privs, own.no_new_privs)) add(phrase, "no_new_privs");
  // Kernels before 5.9 do not count the filters, so only the mode is compared.
  const bool more_filters =
      own.seccomp_filters.has_value() && exceeds(peer.seccomp_filters, own.seccomp_filters);
  if (peer.seccomp && (exceeds(peer.seccomp, own.seccomp) || more_filters)) add(phrase, "a seccomp filter");
  if (unreadable) add(phrase, "a confinement that cannot be read");
  return phrase;
}

std::string held_tighter(const Surroundings& one, const Surroundings& other) {
  const auto more = [](const std::optional<unsigned>& a, const std::optional<unsigned>& b) {
    return a && b && *a > *b;
  };
  std::string phrase;
  if (more(one.no_new_privs, other.no_new_privs)) add(phrase, "no_new_privs");
  if (more(one.seccomp, other.seccomp) || more(one.seccomp_filters, other.seccomp_filters)) {
    add(phrase, "a seccomp filter");
  }
  return phrase;
}

Surroundings surroundings_of(pid_t pid) {
  const std::string folder = "/proc/" + (pid == 0 ? std::string("self") : std::to_string(pid));
  Surroundings result;
  for (std::size_t i = 0; i < kNamespaces.size(); ++i) {
    result.namespaces[i] = link_text(folder + "/ns/" + kNamespaces[i].file);
  }
  read_status(small_file(folder + "/status"), result);
  return result;
}

Surroundings surroundings_of_peer(int socket) {
  ucred who{};
  socklen_t size = sizeof who;
  // 0: the peer is in a PID namespace that is not visible from here.
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0 || who.pid <= 0) return {};
  const UniqueFd pidfd = peer_pidfd(socket, who.pid);
  Surroundings peer = surroundings_of(who.pid);
  const bool same = pidfd.valid() && alive(pidfd.get());
  return same ? peer : Surroundings{};
}

}  // namespace corral::control
