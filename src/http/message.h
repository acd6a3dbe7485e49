// A request as it came, and who sent it. Plain values.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace corral::http {

struct Header {
  std::string name;
  std::string value;  // without the white space around it
};
using Headers = std::vector<Header>;

/// Who is at the other end of a connection, looked up when it was accepted, before a byte was read.
struct Peer {
  enum class Socket : std::uint8_t { Tcp, Unix };
  Socket socket = Socket::Tcp;
  bool ours = false;        // a living socket of our own user
  std::uint64_t inode = 0;  // of its socket, to find its process; 0 = not known
  pid_t pid = 0;            // Unix only
  std::string address;      // for people and for counting; never a secret
};

struct Request {
  std::string method;
  std::string path;   // as it was sent, without the query
  std::string query;  // behind the '?'
  Headers headers;
  std::shared_ptr<const std::string> body;  // never null
  std::shared_ptr<const Peer> peer;         // never null

  /// Null if there is none; the first if there are several. Case does not matter.
  const Header* find(std::string_view name) const;
  /// Empty if there is none.
  std::string_view header(std::string_view name) const;
  std::size_t count(std::string_view name) const;
};

/// With %XX undone. What only looks like an escape stays as it is.
std::string percent_decoded(std::string_view text);

/// The value of `name` in the query, with %XX and '+' undone; empty if it is not there.
std::string query_value(std::string_view query, std::string_view name);

}  // namespace corral::http
