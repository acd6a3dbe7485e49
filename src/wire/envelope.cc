#include "wire/envelope.h"

#include <utility>

#include "wire/cursor.h"

namespace corral::wire {

namespace {

/// A member that we look for, and the fault for a second one.
struct Field {
  std::string_view name;
  const char* second;
};

constexpr Field kJsonRpc{"jsonrpc", "a second \"jsonrpc\""};
constexpr Field kId{"id", "a second \"id\""};
constexpr Field kMethod{"method", "a second \"method\""};
constexpr Field kParams{"params", "a second \"params\""};
constexpr Field kResult{"result", "a second \"result\""};
constexpr Field kError{"error", "a second \"error\""};
constexpr Field kMeta{"_meta", "a second \"_meta\""};
constexpr Field kProgressToken{"progressToken", "a second \"progressToken\""};
constexpr Field kRequestId{"requestId", "a second \"requestId\""};
constexpr Field kVersion{"io.modelcontextprotocol/protocolVersion", "a second protocol version"};
constexpr Field kSubscription{"io.modelcontextprotocol/subscriptionId", "a second subscription id"};
constexpr Field kLogLevel{"io.modelcontextprotocol/logLevel", "a second log level"};

// No real method is longer, and a longer one would have to be decoded and compared.
constexpr std::size_t kLongestMethod = 1024;
// Ids and tokens are kept while a call is open. No real client makes longer ones, so a longer one is refused.
constexpr std::size_t kLongestId = 1024;

bool string_or_number(std::string_view value) {
  return !value.empty() && (value[0] == '"' || value[0] == '-' || (value[0] >= '0' && value[0] <= '9'));
}

/// One pass over one line. A protocol fault does not stop it: the rest must still be proved to be JSON, and
/// an id that comes later is still needed for the error answer.
class Scan {
 public:
  explicit Scan(std::string_view line) : line_(line), in_(line) {}

  Envelope run();

 private:
  bool top_member(const StringBody& key);
  bool params_member(const StringBody& key);
  bool meta_member(const StringBody& key);
  bool id();
  bool method();
  bool params();
  bool meta();
  bool keep(Span& into, const Field& field, std::size_t depth);
  bool is(const StringBody& key, const Field& field) const { return same_key(key, line_, field.name); }
  bool looks_like(const StringBody& key, std::string_view name) const;

  void blame(const char* why, std::size_t at);
  void check();
  void check_parts();
  void check_notification();
  Kind kind() const;
  Envelope refused(Kind as, const char* why, std::size_t at) const;

  std::string_view line_;
  Cursor in_;
  Envelope found_;
  Span jsonrpc_;
  Span id_;
  bool two_ids_ = false;
  const char* fault_ = nullptr;
  std::size_t fault_at_ = 0;
};

void Scan::blame(const char* why, std::size_t at) {
  if (fault_ != nullptr) return;  // only the first fault is reported
  fault_ = why;
  fault_at_ = at;
}

/// Reads the value and records its span.
bool Scan::keep(Span& into, const Field& field, std::size_t depth) {
  const std::size_t begin = in_.position();
  if (!in_.value(depth)) return false;
  if (into.present()) {
    blame(field.second, begin);
  } else {
    into = {begin, in_.position()};
  }
  return true;
}

bool Scan::top_member(const StringBody& key) {
  if (is(key, kJsonRpc)) return keep(jsonrpc_, kJsonRpc, 1);
  if (is(key, kId)) return id();
  if (is(key, kMethod)) return method();
  if (is(key, kParams)) return params();
  if (is(key, kResult)) return keep(found_.result, kResult, 1);
  if (is(key, kError)) return keep(found_.error, kError, 1);
  if (looks_like(key, "id") || looks_like(key, "method") || looks_like(key, "params"))
    found_.lookalike = true;
  return in_.value(1);
}

/// Nearly every key has no escapes and a different length or first letter. A letter beyond ASCII takes two or
/// three bytes. A receiver written in C stops at a NUL. `name` is in lower case.
bool Scan::looks_like(const StringBody& key, std::string_view name) const {
  constexpr std::size_t kLongest = 1024;  // worth decoding; no real key is longer and has escapes
  const std::string_view written = key.span.in(line_);
  const std::size_t length = name.size();
  if (written.size() < length) return false;
  if (key.escaped) {
    if (written.size() > kLongest) return true;
    const std::string meant = unescaped(written);
    return same_but_for_case(std::string_view(meant).substr(0, meant.find('\0')), name);
  }
  if (written.size() > 3 * length) return false;
  const bool other = static_cast<char>(written[0] | 0x20) != static_cast<char>(name[0] | 0x20);
  if (written.size() == length && other) return false;
  return same_but_for_case(written, name);
}

bool Scan::id() {
  two_ids_ = id_.present();
  return keep(id_, kId, 1);
}

bool Scan::method() {
  if (in_.peek() != '"') {
    blame("\"method\" is not a string", in_.position());
    return in_.value(1);
  }
  StringBody body;
  if (!in_.string(body)) return false;
  if (found_.method.present()) {
    blame(kMethod.second, body.span.begin);
  } else if (!body.span.present()) {
    blame("\"method\" is empty", body.span.begin);
  } else if (body.span.in(line_).size() > kLongestMethod) {
    blame("a \"method\" of more than 1024 bytes", body.span.begin);
  } else {
    found_.method = body.span;
    if (body.escaped) found_.method_decoded = unescaped(body.span.in(line_));
  }
  return true;
}

bool Scan::params() {
  const std::size_t begin = in_.position();
  if (found_.params.present() || in_.peek() != '{') {
    if (!found_.params.present()) blame("\"params\" is not an object", begin);
    return keep(found_.params, kParams, 1);
  }
  if (!in_.members([this](const StringBody& key) { return params_member(key); })) return false;
  found_.params = {begin, in_.position()};
  return true;
}

bool Scan::params_member(const StringBody& key) {
  if (is(key, kMeta)) return meta();
  if (is(key, kProgressToken)) return keep(found_.direct_token, kProgressToken, 2);
  if (is(key, kRequestId)) return keep(found_.request_id, kRequestId, 2);
  if (looks_like(key, "_meta")) found_.lookalike = true;
  if (looks_like(key, "requestid")) found_.lookalike_request_id = true;
  return in_.value(2);
}

bool Scan::meta() {
  const std::size_t begin = in_.position();
  if (found_.meta.present() || in_.peek() != '{') {
    if (!found_.meta.present()) blame("\"_meta\" is not an object", begin);
    return keep(found_.meta, kMeta, 2);
  }
  if (!in_.members([this](const StringBody& key) { return meta_member(key); })) return false;
  found_.meta = {begin, in_.position()};
  return true;
}

bool Scan::meta_member(const StringBody& key) {
  if (is(key, kProgressToken)) return keep(found_.progress_token, kProgressToken, 3);
  if (is(key, kVersion)) return keep(found_.protocol_version, kVersion, 3);
  if (is(key, kSubscription)) return keep(found_.subscription_id, kSubscription, 3);
  if (is(key, kLogLevel)) return keep(found_.log_level, kLogLevel, 3);
  if (looks_like(key, "progresstoken")) found_.lookalike = true;
  return in_.value(3);
}

/// Checks that need the whole message.
void Scan::check() {
  if (!jsonrpc_.present()) blame("no \"jsonrpc\"", 0);
  if (jsonrpc_.in(line_) != "\"2.0\"") blame("\"jsonrpc\" is not \"2.0\"", jsonrpc_.begin);
  check_parts();
  const std::string_view id = id_.in(line_);
  const bool unknown = id == "null" && !found_.method.present() && found_.error.present();
  if (id_.present() && !unknown && !string_or_number(id)) {
    blame("\"id\" is neither a string nor a number", id_.begin);
  }
  if (id.size() > kLongestId) blame("an \"id\" of more than 1024 bytes", id_.begin);
  const Span token = found_.progress_token;
  if (token.present() && !string_or_number(token.in(line_))) {
    blame("\"progressToken\" is neither a string nor a number", token.begin);
  }
  if (token.in(line_).size() > kLongestId) blame("a \"progressToken\" of more than 1024 bytes", token.begin);
  check_notification();
}

void Scan::check_parts() {
  const bool result = found_.result.present();
  const bool error = found_.error.present();
  if (found_.method.present()) {
    if (result || error) blame("a \"method\" beside a \"result\" or an \"error\"", 0);
  } else if (result && error) {
    blame("a \"result\" beside an \"error\"", found_.error.begin);
  } else if (!result && !error) {
    blame("no \"method\", \"result\" or \"error\"", 0);
  } else if (result && !id_.present()) {
    blame("a \"result\" without an \"id\"", found_.result.begin);
  }
  if (error && line_[found_.error.begin] != '{') blame("\"error\" is not an object", found_.error.begin);
}

/// params.progressToken and params.requestId have a meaning in one notification each; in other methods they
/// are ordinary parameters.
void Scan::check_notification() {
  const std::string_view name = method_name(found_, line_);
  if (name != "notifications/progress") found_.direct_token = {};
  if (name != "notifications/cancelled") found_.request_id = {};
  const Span token = found_.direct_token;
  if (token.present() && !string_or_number(token.in(line_))) {
    blame("\"progressToken\" is neither a string nor a number", token.begin);
  }
  const Span request = found_.request_id;
  if (request.present() && !string_or_number(request.in(line_))) {
    blame("\"requestId\" is neither a string nor a number", request.begin);
  }
}

Kind Scan::kind() const {
  if (!found_.method.present()) return Kind::Response;
  return id_.present() ? Kind::Request : Kind::Notification;
}

Envelope Scan::refused(Kind as, const char* why, std::size_t at) const {
  Envelope envelope;
  envelope.kind = as;
  envelope.fault = why;
  envelope.fault_at = at;
  // With two ids it is unknown which one the sender waits for; answering either could end another call.
  const std::string_view id = id_.in(line_);
  if (as == Kind::NotRpc && !two_ids_ && string_or_number(id) && id.size() <= kLongestId) envelope.id = id_;
  return envelope;
}

Envelope Scan::run() {
  in_.skip_space();
  const char first = in_.peek();
  const std::size_t begin = in_.position();
  const bool read =
      first == '{' ? in_.members([this](const StringBody& key) { return top_member(key); }) : in_.value(0);
  if (!read || !in_.finish()) return refused(Kind::NotJson, in_.fault(), in_.fault_at());
  if (first == '[') {
    found_.kind = Kind::Batch;
    return std::move(found_);
  }
  if (first != '{') return refused(Kind::NotRpc, "not an object", begin);
  check();
  if (fault_ != nullptr) return refused(Kind::NotRpc, fault_, fault_at_);
  found_.kind = kind();
  if (string_or_number(id_.in(line_))) found_.id = id_;
  return std::move(found_);
}

}  // namespace

Envelope scan(std::string_view line) { return Scan(line).run(); }

std::string_view method_name(const Envelope& envelope, std::string_view line) {
  return envelope.method_decoded.empty() ? envelope.method.in(line)
                                         : std::string_view(envelope.method_decoded);
}

std::optional<std::uint64_t> plain_number(std::string_view text) {
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 53;
  if (text.empty() || text.size() > 16) return std::nullopt;
  if (text[0] == '0' && text.size() > 1) return std::nullopt;
  std::uint64_t number = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '9') return std::nullopt;
    number = number * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  if (number >= kLimit) return std::nullopt;
  return number;
}

std::optional<std::uint64_t> own_number(std::string_view json_text) {
  const bool quoted = json_text.size() > 2 && json_text.front() == '"' && json_text.back() == '"';
  return plain_number(quoted ? json_text.substr(1, json_text.size() - 2) : json_text);
}

bool same_but_for_case(std::string_view key, std::string_view name) {
  constexpr std::string_view kLongS = "\xC5\xBF";       // U+017F
  constexpr std::string_view kKelvin = "\xE2\x84\xAA";  // U+212A
  for (const char letter : name) {
    if (letter == 's' && key.starts_with(kLongS)) {
      key.remove_prefix(kLongS.size());
    } else if (letter == 'k' && key.starts_with(kKelvin)) {
      key.remove_prefix(kKelvin.size());
    } else {
      const bool capital = !key.empty() && key.front() >= 'A' && key.front() <= 'Z';
      if (key.empty() || (capital ? key.front() + ('a' - 'A') : key.front()) != letter) return false;
      key.remove_prefix(1);
    }
  }
  return key.empty();
}

}  // namespace corral::wire
