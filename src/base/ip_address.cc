#include "base/ip_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>
#include <cstring>

namespace corral {
namespace {

constexpr std::uint32_t kLoopbackNet = 127;

// Copies the bytes, because reading a sockaddr_storage through another type would break the aliasing rules.
template <class Address>
Address as(const IpAddress& address) {
  Address result{};
  memcpy(&result, &address.bytes, sizeof result);
  return result;
}

template <class Address>
void store(IpAddress& address, const Address& value) {
  memcpy(&address.bytes, &value, sizeof value);
  address.size = sizeof value;
}

}  // namespace

bool IpAddress::is_loopback() const {
  if (bytes.ss_family == AF_INET) {
    return (ntohl(as<sockaddr_in>(*this).sin_addr.s_addr) >> 24U) == kLoopbackNet;
  }
  const auto address = as<sockaddr_in6>(*this);
  return bytes.ss_family == AF_INET6 && memcmp(&address.sin6_addr, &in6addr_loopback, sizeof(in6_addr)) == 0;
}

std::uint16_t IpAddress::port() const {
  return ntohs(bytes.ss_family == AF_INET ? as<sockaddr_in>(*this).sin_port
                                          : as<sockaddr_in6>(*this).sin6_port);
}

void IpAddress::set_port(std::uint16_t port) {
  if (bytes.ss_family == AF_INET) {
    auto address = as<sockaddr_in>(*this);
    address.sin_port = htons(port);
    return store(*this, address);
  }
  auto address = as<sockaddr_in6>(*this);
  address.sin6_port = htons(port);
  store(*this, address);
}

std::string IpAddress::host() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (bytes.ss_family == AF_INET) {
    const auto address = as<sockaddr_in>(*this);
    inet_ntop(AF_INET, &address.sin_addr, text.data(), text.size());
    return text.data();
  }
  const auto address = as<sockaddr_in6>(*this);
  inet_ntop(AF_INET6, &address.sin6_addr, text.data(), text.size());
  return std::string("[") + text.data() + "]";
}

std::optional<IpAddress> parse_ip_address(std::string_view text) {
  if (text == "localhost") text = "127.0.0.1";
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  const std::string word(text);
  if (word.find('\0') != std::string::npos) return std::nullopt;
  IpAddress result;
  sockaddr_in four{};
  four.sin_family = AF_INET;
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  if (inet_pton(AF_INET, word.c_str(), &four.sin_addr) == 1) {
    store(result, four);
  } else if (inet_pton(AF_INET6, word.c_str(), &six.sin6_addr) == 1) {
    store(result, six);
  } else {
    return std::nullopt;
  }
  return result;
}

std::optional<IpAddress> bound_address(int socket) {
  IpAddress result;
  result.size = sizeof result.bytes;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&result.bytes), &result.size) != 0) return std::nullopt;
  const bool is_tcp = result.bytes.ss_family == AF_INET || result.bytes.ss_family == AF_INET6;
  return is_tcp ? std::optional(result) : std::nullopt;
}

}  // namespace corral
