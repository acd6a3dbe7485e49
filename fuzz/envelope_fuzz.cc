// The scanner against Boost.JSON: the same texts are JSON, the same messages are JSON-RPC, and every piece
// that the scanner points at is the one that Boost finds.
#include <algorithm>
#include <array>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/parse.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "wire/envelope.h"
#include "wire/json_text.h"

namespace {

namespace json = boost::json;
using namespace corral::wire;

constexpr std::string_view kPrefix = "io.modelcontextprotocol/";

void demand(bool truth) {
  if (!truth) abort();
}

json::parse_options strict() {
  json::parse_options options;
  options.max_depth = 512;
  return options;
}

/// Boost gives up on exponents that no int holds and on half a surrogate pair, for which it has several
/// errors; RFC 8259 allows both, and we pass them on as text.
bool stricter_than_the_rfc(const boost::system::error_code& error, std::string_view line) {
  if (error == json::error::exponent_overflow) return true;
  return error && (line.find("\\ud") != line.npos || line.find("\\uD") != line.npos);
}

/// Boost's tree keeps one of several equal keys, so this counts them: at the top, in params and in
/// params._meta.
struct KeyCounter {
  static constexpr std::size_t max_object_size = std::size_t(-1);
  static constexpr std::size_t max_array_size = std::size_t(-1);
  static constexpr std::size_t max_key_size = std::size_t(-1);
  static constexpr std::size_t max_string_size = std::size_t(-1);
  using Error = boost::system::error_code;

  bool enter(bool object) {
    const bool inside = object && (depth == 0 || (depth == open && key == (depth == 1 ? "params" : "_meta")));
    ++depth;
    // A second params or _meta is refused as such; what it holds does not matter.
    if (inside && depth <= 3 && entered[depth - 1]++ == 0) open = depth;
    return true;
  }
  bool leave() {
    if (open == depth) --open;
    --depth;
    return true;
  }
  void count() {
    if (depth != open) return;
    if (depth == 1) {
      for (const char* name : {"jsonrpc", "method", "params", "result", "error"}) twice |= again(top, name);
      ids += key == "id" ? 1 : 0;
    } else if (depth == 2) {
      for (const char* name : {"_meta", "progressToken", "requestId"}) twice |= again(params, name);
    } else {
      twice |= again(meta, "progressToken");
      for (const char* name : {"protocolVersion", "subscriptionId", "logLevel"}) {
        twice |= again(meta, std::string(kPrefix) + name);
      }
    }
  }
  bool again(std::string& seen, const std::string& name) const {
    if (key != name) return false;
    const std::string mark = name + "\n";
    const bool known = seen.find(mark) != std::string::npos;
    seen += mark;
    return known;
  }

  bool on_document_begin(Error&) { return true; }
  bool on_document_end(Error&) { return true; }
  bool on_object_begin(Error&) { return enter(true); }
  bool on_object_end(std::size_t, Error&) { return leave(); }
  bool on_array_begin(Error&) { return enter(false); }
  bool on_array_end(std::size_t, Error&) { return leave(); }
  bool on_key_part(json::string_view part, std::size_t, Error&) {
    partial.append(part.data(), part.size());
    return true;
  }
  bool on_key(json::string_view part, std::size_t, Error&) {
    partial.append(part.data(), part.size());
    key = std::move(partial);
    partial.clear();
    count();
    return true;
  }
  bool on_string_part(json::string_view, std::size_t, Error&) { return true; }
  bool on_string(json::string_view, std::size_t, Error&) { return true; }
  bool on_number_part(json::string_view, Error&) { return true; }
  bool on_int64(std::int64_t, json::string_view, Error&) { return true; }
  bool on_uint64(std::uint64_t, json::string_view, Error&) { return true; }
  bool on_double(double, json::string_view, Error&) { return true; }
  bool on_bool(bool, Error&) { return true; }
  bool on_null(Error&) { return true; }
  bool on_comment_part(json::string_view, Error&) { return true; }
  bool on_comment(json::string_view, Error&) { return true; }

  std::string partial;
  std::string key;
  std::string top;
  std::string params;
  std::string meta;
  std::array<int, 3> entered{};
  std::size_t depth = 0;
  std::size_t open = 0;  // the deepest of the three objects that we are in
  int ids = 0;
  bool twice = false;
};

KeyCounter count_keys(std::string_view line) {
  json::basic_parser<KeyCounter> parser(strict());
  boost::system::error_code error;
  parser.write_some(false, line.data(), line.size(), error);
  demand(!error);
  return std::move(parser.handler());
}

bool name_like(const json::value* value) {
  return value != nullptr && (value->is_string() || value->is_number());
}

const json::value* find(const json::value* object, std::string_view key) {
  if (object == nullptr || !object->is_object()) return nullptr;
  return object->get_object().if_contains(json::string_view(key.data(), key.size()));
}

constexpr std::size_t kLongest = 1024;  // of an id, a progress token and a method, as they are written

std::string_view written(std::string_view object, const char* key) {
  return object.empty() ? object : member(object, key).in(object);
}

/// Whether something is longer than it may be.
bool is_too_long(std::string_view line) {
  const std::string_view method = written(line, "method");
  if (method.size() > kLongest + 2 && method.front() == '"') return true;  // without its quotes
  const std::string_view meta = written(written(line, "params"), "_meta");
  return written(line, "id").size() > kLongest || written(meta, "progressToken").size() > kLongest;
}

/// The rules of envelope.h, once more, over the tree. Returns NotRpc or what kind of message it is.
Kind expected_kind(const json::value& tree, const KeyCounter& counted, std::string_view method) {
  if (tree.is_array()) return Kind::Batch;
  if (!tree.is_object() || counted.twice || counted.ids > 1) return Kind::NotRpc;
  const json::value* version = find(&tree, "jsonrpc");
  if (version == nullptr || !version->is_string() || version->get_string() != "2.0") return Kind::NotRpc;
  const json::value* name = find(&tree, "method");
  if (name != nullptr && (!name->is_string() || name->get_string().empty())) return Kind::NotRpc;
  const json::value* params = find(&tree, "params");
  if (params != nullptr && !params->is_object()) return Kind::NotRpc;
  const json::value* meta = find(params, "_meta");
  if (meta != nullptr && !meta->is_object()) return Kind::NotRpc;
  const json::value* token = find(meta, "progressToken");
  if (token != nullptr && !name_like(token)) return Kind::NotRpc;
  token = find(params, "progressToken");
  if (method == "notifications/progress" && token != nullptr && !name_like(token)) return Kind::NotRpc;
  token = find(params, "requestId");
  if (method == "notifications/cancelled" && token != nullptr && !name_like(token)) return Kind::NotRpc;

  const json::value* id = find(&tree, "id");
  const json::value* result = find(&tree, "result");
  const json::value* error = find(&tree, "error");
  if (error != nullptr && !error->is_object()) return Kind::NotRpc;
  if (id != nullptr && !name_like(id) && !(id->is_null() && error != nullptr && name == nullptr)) {
    return Kind::NotRpc;
  }
  if (name != nullptr) {
    if (result != nullptr || error != nullptr) return Kind::NotRpc;
    return id != nullptr ? Kind::Request : Kind::Notification;
  }
  if ((result != nullptr) == (error != nullptr)) return Kind::NotRpc;
  return result != nullptr && id == nullptr ? Kind::NotRpc : Kind::Response;
}

/// Boost reads the last digits of a fraction differently, depending on what stands around it, and makes no
/// number of 0e999.
bool alike(const json::value& one, const json::value& other) {
  if (one.is_double() && other.is_double()) {
    const double a = one.get_double();
    const double b = other.get_double();
    return a == b || std::abs(a - b) <= std::abs(a) * 1e-9 || (std::isnan(a) && std::isnan(b));
  }
  if (one.is_array() && other.is_array()) {
    const json::array& a = one.get_array();
    const json::array& b = other.get_array();
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), alike);
  }
  if (!one.is_object() || !other.is_object()) return one == other;
  const json::object& a = one.get_object();
  const json::object& b = other.get_object();
  return a.size() == b.size() && std::all_of(a.begin(), a.end(), [&b](const auto& member) {
           const json::value* const same = b.if_contains(member.key());
           return same != nullptr && alike(member.value(), *same);
         });
}

void same_value(Span span, std::string_view line, const json::value* value) {
  demand(span.end <= line.size() && span.present() == (value != nullptr));
  if (value == nullptr) return;
  const std::string_view text = span.in(line);
  boost::system::error_code error;
  const json::value found = json::parse({text.data(), text.size()}, error, {}, strict());
  demand(!error && alike(found, *value));
  // No white space around it: it is replaced as it stands.
  demand(text.front() > ' ' && text.back() > ' ');
}

/// A key in small letters, as a parser sees it that does not tell them from capital ones.
std::string folded(std::string_view key) {
  std::string small;
  for (std::size_t at = 0; at < key.size();) {
    if (key.substr(at, 2) == "\xC5\xBF") {
      small += 's', at += 2;
    } else if (key.substr(at, 3) == "\xE2\x84\xAA") {
      small += 'k', at += 3;
    } else {
      const char byte = key[at++];
      small += byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte | 0x20) : byte;
    }
  }
  return small;
}

/// Whether a parser that does not tell small letters from capital ones, or ends a key at a NUL, takes another
/// key of the object for `name`.
bool has_twin(const json::value* object, std::string_view name) {
  if (object == nullptr || !object->is_object()) return false;
  const json::object& members = object->get_object();
  return std::any_of(members.begin(), members.end(), [name](const auto& member) {
    const std::string_view key(member.key().data(), member.key().size());
    return key != name && folded(key.substr(0, key.find('\0'))) == folded(name);
  });
}

/// A key that may have been written with more than a kilobyte of escapes counts as a twin unread.
bool has_long_key(const json::value* object) {
  constexpr std::size_t kMayBeLong = 170;
  if (object == nullptr || !object->is_object()) return false;
  const json::object& members = object->get_object();
  return std::any_of(members.begin(), members.end(),
                     [](const auto& member) { return member.key().size() >= kMayBeLong; });
}

void check_twins(const Envelope& envelope, const json::value& tree) {
  const json::value* const params = find(&tree, "params");
  const json::value* const meta = find(params, "_meta");
  const bool expected = has_twin(&tree, "id") || has_twin(&tree, "method") || has_twin(&tree, "params") ||
                        has_twin(params, "_meta") || has_twin(meta, "progressToken");
  const bool unread = has_long_key(&tree) || has_long_key(params) || has_long_key(meta);
  demand(envelope.lookalike == expected || (envelope.lookalike && unread));
  const bool request = has_twin(params, "requestId");
  demand(envelope.lookalike_request_id == request || (envelope.lookalike_request_id && unread));
}

void check_message(const Envelope& envelope, std::string_view line, const json::value& tree) {
  check_twins(envelope, tree);
  const json::value* id = find(&tree, "id");
  same_value(envelope.id, line, name_like(id) ? id : nullptr);
  const json::value* method = find(&tree, "method");
  const std::string_view name = method_name(envelope, line);
  demand(method == nullptr ? name.empty()
                           : method->get_string() == json::string_view(name.data(), name.size()));
  const json::value* params = find(&tree, "params");
  const json::value* meta = find(params, "_meta");
  same_value(envelope.params, line, params);
  same_value(envelope.result, line, find(&tree, "result"));
  same_value(envelope.error, line, find(&tree, "error"));
  same_value(envelope.meta, line, meta);
  same_value(envelope.progress_token, line, find(meta, "progressToken"));
  same_value(envelope.protocol_version, line, find(meta, std::string(kPrefix) + "protocolVersion"));
  same_value(envelope.subscription_id, line, find(meta, std::string(kPrefix) + "subscriptionId"));
  same_value(envelope.log_level, line, find(meta, std::string(kPrefix) + "logLevel"));
  const bool progress = name == "notifications/progress";
  same_value(envelope.direct_token, line, progress ? find(params, "progressToken") : nullptr);
  const bool cancelled = name == "notifications/cancelled";
  same_value(envelope.request_id, line, cancelled ? find(params, "requestId") : nullptr);
}

void check_refused(const Envelope& envelope, std::string_view line, const json::value& tree, int ids) {
  const json::value* id = find(&tree, "id");
  const bool told = ids == 1 && name_like(id) && written(line, "id").size() <= kLongest;
  same_value(envelope.id, line, told ? id : nullptr);
  demand(envelope.fault[0] != '\0' && !envelope.method.present() && !envelope.params.present());
}

/// Leaving a member out leaves an object without it.
void check_members(std::string_view line, const json::value& tree, const KeyCounter& counted) {
  same_value(member(line, "id"), line, find(&tree, "id"));
  same_value(member(line, "params"), line, find(&tree, "params"));
  const Span cut = member_with_comma(line, "id");
  demand(cut.present() == (find(&tree, "id") != nullptr));
  if (counted.ids != 1 || !tree.is_object()) return;
  const std::string shorter = std::string(line.substr(0, cut.begin)) + std::string(line.substr(cut.end));
  boost::system::error_code error;
  const json::value found = json::parse(shorter, error, {}, strict());
  json::value expected = tree;
  expected.get_object().erase("id");
  demand(!error && alike(found, expected));
}

/// Whatever the bytes, quoting them makes a JSON string, and it says what they said if they were UTF-8.
void check_quoted(std::string_view bytes) {
  const std::string text = quoted(bytes);
  boost::system::error_code error;
  const json::value tree = json::parse(text, error, {}, strict());
  demand(!error && tree.is_string());
  const std::optional<std::string> back = string_value(text);
  demand(back && tree.get_string() == *back);
  if (back->find("\xEF\xBF\xBD") == std::string::npos) demand(*back == bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  const Envelope envelope = scan(line);
  demand(envelope.fault_at <= size);
  check_quoted(line);

  boost::system::error_code error;
  const json::value tree = json::parse({line.data(), line.size()}, error, {}, strict());
  if (stricter_than_the_rfc(error, line)) return 0;
  demand((envelope.kind == Kind::NotJson) == error.failed());
  if (error) {
    demand(!envelope.id.present() && envelope.fault[0] != '\0');
    return 0;
  }
  const KeyCounter counted = count_keys(line);
  const bool too_long = tree.is_object() && is_too_long(line);
  const Kind kind = too_long ? Kind::NotRpc : expected_kind(tree, counted, method_name(envelope, line));
  // We want "2.0" spelled like that; Boost can't tell.
  const bool spelling = envelope.kind == Kind::NotRpc && line.find('\\') != std::string_view::npos &&
                        std::string_view(envelope.fault) == "\"jsonrpc\" is not \"2.0\"";
  demand(spelling || envelope.kind == kind);
  if (envelope.kind == Kind::NotRpc) {
    check_refused(envelope, line, tree, counted.ids);
  } else if (envelope.kind != Kind::Batch) {
    check_message(envelope, line, tree);
  }
  check_members(line, tree, counted);
  return 0;
}
