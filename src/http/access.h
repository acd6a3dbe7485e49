// Which requests have access. Host and Origin keep out web pages; an open socket of our own user or a bearer
// token keeps out everything else. Pure; checked for every request, on every path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"

namespace corral::http {

/// A secret that gives access to some servers. See `corral token`.
struct Token {
  std::string name;
  std::string secret;                // at least 128 bits
  std::vector<std::string> servers;  // that it gives access to; empty = all
  std::vector<std::string>
      roots{};  // the projects that it may name; empty = only those of the server's entry
};

struct AccessRules {
  /// The port of the listener. On a Unix socket, the Host header is not checked.
  std::uint16_t port = 0;
  /// The address of the listener as it appears in a URL. Clients that connect to it name it.
  std::string address = "127.0.0.1";
  /// Names that are allowed beside localhost, 127.0.0.1 and [::1]. They have no port and match any: a proxy
  /// in front of the daemon has its own.
  std::vector<std::string> hosts;
  /// The complete origins of web pages that have access: "https://app.example".
  std::vector<std::string> origins;
  /// False: every client needs a token.
  bool trust_own_user = true;
};

/// The sender of a request, as far as it matters: sessions belong to it.
struct Principal {
  std::string name;                  // "user", or "token:NAME"
  std::vector<std::string> servers;  // that it may use; empty = all of them
  std::vector<std::string> roots{};  // of a token: the projects that it may name
  bool may_use(std::string_view server) const;
};

/// The decision about a request.
struct Access {
  int status = 200;            // 200, 401 or 403
  std::string message;         // if it is refused: a sentence for the body; nothing in it needs to be escaped
  Principal principal;         // if it is not refused
  std::string allowed_origin;  // that may read the answer, also a 401; empty = no Origin was sent
};

/// A 401 needs the header `WWW-Authenticate: Bearer`, which the caller adds. A token is accepted only in the
/// Authorization header, because URLs are stored in logs and histories.
Access check_access(const Request& request, const AccessRules& rules, const std::vector<Token>& tokens);

}  // namespace corral::http
