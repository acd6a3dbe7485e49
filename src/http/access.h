// Who may ask for what: Host and Origin against browsers, a living socket of our own user or a bearer token
// against everybody else. Pure; checked for every request, on every path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"

namespace corral::http {

struct Token {
  std::string name;
  std::string secret;                // at least 128 bit
  std::vector<std::string> servers;  // that it opens; empty = all
  std::vector<std::string>
      roots{};  // the projects that it may name; empty = those of the server's entry alone
};

struct AccessRules {
  std::uint16_t port = 0;  // ours; at the Unix door Host says nothing
  std::string address =
      "127.0.0.1";                   // where this door listens, as a URL has it: whoever comes by it names it
  std::vector<std::string> hosts;    // beside localhost, 127.0.0.1 and [::1]; without port, so with any: that
                                     // of a proxy in front of us is not ours
  std::vector<std::string> origins;  // of web pages that may ask, whole: "https://app.example"
  bool trust_own_user = true;        // false: everybody needs a token
};

/// Whoever asks, as far as it matters: sessions belong to it.
struct Principal {
  std::string name;                  // "user", or "token:NAME"
  std::vector<std::string> servers;  // that it may use; empty = all
  std::vector<std::string> roots{};  // of a token: the projects that it may name
  bool may_use(std::string_view server) const;
};

struct Access {
  int status = 200;            // 200, 401, 403
  std::string message;         // a sentence for the body, if refused; nothing in it needs to be escaped
  Principal principal;         // if not
  std::string allowed_origin;  // that a browser may be told of, also with a 401; empty = none was sent
};

/// A 401 wants the header `WWW-Authenticate: Bearer`: whoever sends the answer adds it. Tokens are looked for
/// in the Authorization header alone: what stands in a URL ends up in logs and histories.
Access check_access(const Request& request, const AccessRules& rules, const std::vector<Token>& tokens);

}  // namespace corral::http
