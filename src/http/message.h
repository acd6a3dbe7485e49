// A request as it was sent, and its sender. Plain values.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace corral::http {

/// Names are compared without regard to case.
struct Header {
  std::string name;
  std::string value;  // without the white space around it
};
using Headers = std::vector<Header>;

/// The other end of a connection, looked up when it was accepted, before a byte was read.
struct Peer {
  enum class Socket : std::uint8_t { Tcp, Unix };
  Socket socket = Socket::Tcp;
  bool ours = false;        // an open socket of our own user
  std::uint64_t inode = 0;  // of its socket, to find its process; 0 = unknown
  pid_t pid = 0;            // on a Unix socket only; otherwise 0
  std::string address;      // for messages and quotas; never a secret
};

struct Request {
  std::string method;
  std::string path;   // as it was sent, without the query
  std::string query;  // after the '?'
  Headers headers;
  std::shared_ptr<const std::string> body;  // never null
  std::shared_ptr<const Peer> peer;         // never null

  /// Null if there is none; the first if there are several. Case does not matter.
  const Header* find(std::string_view name) const;
  /// Empty if there is none.
  std::string_view header(std::string_view name) const;
  /// How often it was sent.
  std::size_t count(std::string_view name) const;
};

/// With each %XX decoded. An incomplete escape is left as it is.
std::string percent_decoded(std::string_view text);

/// The value of `name` in the query, with %XX and '+' decoded; empty if it is missing.
std::string query_value(std::string_view query, std::string_view name);

}  // namespace corral::http
