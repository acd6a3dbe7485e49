#include "http/access.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "http/text.h"

namespace corral::http {
namespace {

constexpr std::array<std::string_view, 3> kThisMachine = {"localhost", "127.0.0.1", "::1"};
constexpr std::array<std::string_view, 4> kProxyMarks = {"Forwarded", "X-Forwarded-For", "X-Real-IP", "Via"};
constexpr std::size_t kLongestHost = 255;
constexpr std::size_t kLongestSecret = 512;

bool consists_of(std::string_view text, std::string_view more) {
  return std::all_of(text.begin(), text.end(), [more](char letter) {
    const char small = lower(letter);
    return (small >= 'a' && small <= 'z') || (small >= '0' && small <= '9') ||
           more.find(letter) != std::string_view::npos;
  });
}

struct HostPort {
  std::string_view host;  // an IPv6 address without its brackets
  std::string_view port;  // empty = none was named
};

/// "name", "name:80", "127.0.0.1:80", "[::1]:80". Nothing else: no user name, no space, no path.
std::optional<HostPort> parse_host_port(std::string_view text) {
  if (text.empty() || text.size() > kLongestHost) return std::nullopt;
  HostPort named;
  if (text.front() == '[') {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    named.host = text.substr(1, close - 1);
    text.remove_prefix(close + 1);
    if (!consists_of(named.host, ":.")) return std::nullopt;
  } else {
    named.host = text.substr(0, text.find(':'));
    text.remove_prefix(named.host.size());
    if (!consists_of(named.host, "-._")) return std::nullopt;
  }
  if (named.host.empty()) return std::nullopt;
  if (text.empty()) return named;
  named.port = text.substr(1);
  const bool number = !named.port.empty() && named.port.size() <= 5 &&
                      named.port.find_first_not_of("0123456789") == std::string_view::npos;
  return text.front() == ':' && number ? std::optional(named) : std::nullopt;
}

bool is_this_machine(std::string_view host) {
  return std::any_of(kThisMachine.begin(), kThisMachine.end(),
                     [host](std::string_view name) { return same_word(host, name); });
}

std::string_view without_brackets(std::string_view host) {
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  return bracketed ? host.substr(1, host.size() - 2) : host;
}

Access refuse_access(int status, std::string message) {
  Access access;
  access.status = status;
  access.message = std::move(message);
  return access;
}

// ---- Host: a web page whose name was made to resolve to this machine sends that name

/// What nearly all clients send.
bool is_own_address(std::string_view host, std::uint16_t port) {
  constexpr std::string_view kLoopback = "127.0.0.1:";
  if (!host.starts_with(kLoopback)) return false;
  std::array<char, 8> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), port).ptr;
  return host.substr(kLoopback.size()) == std::string_view(digits.data(), end);
}

std::optional<Access> check_host(const Request& request, const AccessRules& rules) {
  if (request.count("Host") != 1) {
    return refuse_access(403, "The Host header is missing or was sent twice. Send it once.");
  }
  const std::string_view value = request.header("Host");
  if (is_own_address(value, rules.port)) return std::nullopt;
  const std::optional<HostPort> named = parse_host_port(value);
  if (!named) return refuse_access(403, "The Host header is neither a name nor an address. Send HOST:PORT.");
  if (request.peer->socket == Peer::Socket::Unix) return std::nullopt;
  const std::string port = std::to_string(rules.port);
  const std::string own = "http://" + rules.address + ":" + port + "/";
  if (is_this_machine(named->host) || same_word(without_brackets(rules.address), named->host)) {
    if (named->port == port || (named->port.empty() && rules.port == 80)) return std::nullopt;
    return refuse_access(403, "The Host header '" + std::string(value) +
                                  "' names a port other than this one. Use " + own + ".");
  }
  const bool configured = std::any_of(
      rules.hosts.begin(), rules.hosts.end(),
      [&named](const std::string& host) { return same_word(without_brackets(host), named->host); });
  if (configured) return std::nullopt;
  return refuse_access(403, "The Host header '" + std::string(value) +
                                "' is not a name of this machine, so this request may come from a web page. "
                                "Use " +
                                own + ", or add the name to `hosts` in the configuration.");
}

// ---- Origin: web pages have no access, except those that the user has listed

/// The address and port that the daemon listens at: no other program can serve a page there. Other pages of
/// this machine are not trusted: at another port, or at the other loopback address, which "localhost" may
/// mean, another user may serve the page, and in the user's browser it would count as the user.
bool is_own_origin(std::string_view origin, const Request& request, const AccessRules& rules) {
  if (request.peer->socket == Peer::Socket::Unix) return false;
  const std::string own = "http://" + rules.address;
  return same_word(origin, own + ":" + std::to_string(rules.port)) ||
         (rules.port == 80 && same_word(origin, own));
}

std::optional<Access> check_origin(const Request& request, const AccessRules& rules) {
  const std::size_t count = request.count("Origin");
  if (count == 0) {
    // An image or a link on a page of another site: it cannot read the answer, but its GET would have an
    // effect.
    if (!same_word(request.header("Sec-Fetch-Site"), "cross-site")) return std::nullopt;
    return refuse_access(403,
                         "This request comes from a web page of another site and has no Origin header. "
                         "Type the address into the browser instead.");
  }
  if (count > 1) return refuse_access(403, "The Origin header was sent twice. Send it once, or not at all.");
  const std::string_view origin = request.header("Origin");
  if (is_own_origin(origin, request, rules)) return std::nullopt;
  if (same_word(origin, "null")) {
    return refuse_access(403,
                         "The Origin header is 'null': a web page without an origin has no access. Serve the "
                         "page from a web server.");
  }
  const bool configured = std::any_of(rules.origins.begin(), rules.origins.end(),
                                      [origin](const std::string& one) { return same_word(one, origin); });
  if (configured && !origin.empty()) return std::nullopt;
  const bool showable = origin.size() <= kLongestHost && consists_of(origin, "-._:/[]");
  return refuse_access(
      403, "The Origin header" + (showable ? " '" + std::string(origin) + "'" : std::string()) +
               " is not in `origins` in the configuration, so this web page has no access. Add it "
               "there if you trust the page.");
}

// ---- the principal

/// Takes the same time for every text of this length, however much of it is right.
bool same_secret(std::string_view shown, std::string_view secret) {
  // volatile: otherwise a compiler may stop at the first difference.
  volatile unsigned different = shown.size() == secret.size() && !secret.empty() ? 0U : 1U;
  for (std::size_t i = 0; i < shown.size() && !secret.empty(); ++i) {
    const auto one = static_cast<unsigned char>(shown[i]);
    const auto other = static_cast<unsigned char>(secret[i % secret.size()]);
    different = different | static_cast<unsigned>(one ^ other);
  }
  return different == 0;
}

/// Compares with all of them, so that the time does not depend on which one matches.
const Token* find_token(std::string_view shown, const std::vector<Token>& tokens) {
  if (shown.empty() || shown.size() > kLongestSecret) return nullptr;
  const Token* found = nullptr;
  for (const Token& token : tokens) {
    if (same_secret(shown, token.secret)) found = &token;
  }
  return found;
}

/// The text after "Bearer"; empty if the scheme is another one.
std::optional<std::string_view> bearer(std::string_view authorization) {
  constexpr std::string_view kScheme = "Bearer";
  const std::size_t blank = authorization.find(' ');
  if (!same_word(authorization.substr(0, blank), kScheme)) return std::nullopt;
  const std::size_t start = authorization.find_first_not_of(' ', kScheme.size());
  return start == std::string_view::npos ? std::string_view() : authorization.substr(start);
}

/// A token that is sent must be valid, even from a client that needs none: the client relies on what the
/// token gives access to and what it does not.
Access check_token(const Request& request, const std::vector<Token>& tokens) {
  constexpr const char* kNext =
      " Create one with `corral token create NAME` on the daemon's machine, and send it as "
      "`Authorization: Bearer TOKEN`.";
  if (request.count("Authorization") > 1) {
    return refuse_access(401, "The Authorization header was sent twice. Send it once.");
  }
  const std::optional<std::string_view> shown = bearer(request.header("Authorization"));
  if (!shown) {
    return refuse_access(401,
                         std::string("The Authorization header does not contain a bearer token.") + kNext);
  }
  const Token* const token = find_token(*shown, tokens);
  if (token == nullptr) {
    return refuse_access(401,
                         std::string("This daemon does not know the token in the Authorization header: it is "
                                     "wrong, or was revoked.") +
                             kNext);
  }
  Access access;
  access.principal = {"token:" + token->name, token->servers, token->roots};
  return access;
}

/// A proxy of our own user passes on the requests of all clients that can reach it, and marks them.
bool came_through_proxy(const Request& request) {
  return std::any_of(kProxyMarks.begin(), kProxyMarks.end(),
                     [&request](std::string_view name) { return request.find(name) != nullptr; });
}

Access check_who(const Request& request, const AccessRules& rules, const std::vector<Token>& tokens) {
  if (request.count("Authorization") > 0) return check_token(request, tokens);
  if (request.peer->ours && rules.trust_own_user && !came_through_proxy(request)) {
    Access access;
    access.principal = {"user", {}, {}};
    return access;
  }
  return refuse_access(
      401,
      "A token is needed: the daemon cannot tell that this connection comes directly from a running program "
      "of its own user. Create one with `corral token create NAME` on the daemon's machine, and send it as "
      "`Authorization: Bearer TOKEN`.");
}

}  // namespace

bool Principal::may_use(std::string_view server) const {
  return servers.empty() || std::find(servers.begin(), servers.end(), server) != servers.end();
}

Access check_access(const Request& request, const AccessRules& rules, const std::vector<Token>& tokens) {
  if (std::optional<Access> refused = check_host(request, rules)) return std::move(*refused);
  if (std::optional<Access> refused = check_origin(request, rules)) return std::move(*refused);
  Access access = check_who(request, rules, tokens);
  access.allowed_origin = request.header("Origin");  // also of a 401, so that the page can read why
  return access;
}

}  // namespace corral::http
