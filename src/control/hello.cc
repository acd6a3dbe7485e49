#include "control/hello.h"

#include <algorithm>
#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <limits>
#include <optional>
#include <utility>

namespace corral::control {
namespace {

namespace json = boost::json;

template <class Value>
struct Name {
  Value value;
  std::string_view name;
};

constexpr std::array kVerbs = {Name<Verb>{Verb::Connect, "connect"}, Name<Verb>{Verb::Status, "status"},
                               Name<Verb>{Verb::Shutdown, "shutdown"}};

using Kind = Reply::Kind;
constexpr std::array kReplies = {Name<Kind>{Kind::Accepted, "accepted"}, Name<Kind>{Kind::RunIt, "run-it"},
                                 Name<Kind>{Kind::Refused, "refused"},   Name<Kind>{Kind::Note, "note"},
                                 Name<Kind>{Kind::Stderr, "stderr"},     Name<Kind>{Kind::Status, "status"},
                                 Name<Kind>{Kind::Exit, "exit"}};

template <class Names, class Value>
std::string_view name_of(const Names& names, Value value) {
  for (const auto& entry : names) {
    if (entry.value == value) return entry.name;
  }
  return "?";
}

// ---- writing

/// Bytes that are no UTF-8 stay as they are: a path or a variable may hold any, and must arrive unchanged.
void append_quoted(std::string& out, std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += '"';
  for (const char byte : text) {
    const auto value = static_cast<unsigned char>(byte);
    if (byte == '"' || byte == '\\') {
      out += '\\';
      out += byte;
    } else if (value < 0x20) {
      out += "\\u00";
      out += kDigits[value >> 4];
      out += kDigits[value & 15];
    } else {
      out += byte;
    }
  }
  out += '"';
}

class Writer {
 public:
  void text(std::string_view key, std::string_view value) {
    begin(key);
    append_quoted(out_, value);
  }
  void number(std::string_view key, long value) {
    begin(key);
    out_ += std::to_string(value);
  }
  void list(std::string_view key, const std::vector<std::string>& values) {
    begin(key);
    out_ += '[';
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) out_ += ',';
      append_quoted(out_, values[i]);
    }
    out_ += ']';
  }
  /// Valid JSON. Its line ends can only stand between values, where a space does the same.
  void raw(std::string_view key, std::string_view value) {
    begin(key);
    for (const char byte : value) out_ += byte == '\n' || byte == '\r' ? ' ' : byte;
  }
  std::string line() { return std::move(out_) + "}\n"; }

 private:
  void begin(std::string_view key) {
    out_ += out_.empty() ? '{' : ',';
    append_quoted(out_, key);
    out_ += ':';
  }

  std::string out_;
};

// ---- reading

Result<json::object> parse_object(std::string_view line) {
  json::error_code error;
  json::parse_options options;
  options.allow_invalid_utf8 = true;
  json::value value = json::parse(line, error, {}, options);
  if (error) return Error{"no JSON: " + error.message()};
  if (!value.is_object()) return Error{"no JSON object"};
  return std::move(value.as_object());
}

/// Takes members out of an object and remembers the first that is wrong. A missing one leaves the default.
class Members {
 public:
  explicit Members(const json::object& object) : object_(object) {}

  template <class Number>
  void number(std::string_view key, Number& target) {
    const json::value* value = object_.if_contains(key);
    if (value == nullptr) return;
    json::error_code error;
    const auto wide = value->to_number<std::int64_t>(error);
    if (error || !value->is_number() || value->is_double() || !std::in_range<Number>(wide)) {
      complain(key, "must be a whole number in range");
    } else {
      target = static_cast<Number>(wide);
    }
  }

  void text(std::string_view key, std::string& target) {
    const json::value* value = object_.if_contains(key);
    if (value != nullptr && !take(*value, target)) complain(key, "must be a string without NUL");
  }

  void list(std::string_view key, std::vector<std::string>& target) {
    const json::value* value = object_.if_contains(key);
    if (value == nullptr) return;
    if (!value->is_array()) return complain(key, "must be an array of strings");
    target.reserve(value->get_array().size());
    for (const json::value& element : value->get_array()) {
      if (!take(element, target.emplace_back())) return complain(key, "must hold only strings without NUL");
    }
  }

  template <class Names, class Value>
  void choice(std::string_view key, const Names& names, Value& target) {
    std::string word;
    text(key, word);
    for (const auto& entry : names) {
      if (entry.name != word) continue;
      target = entry.value;
      return;
    }
    std::string known;
    for (const auto& entry : names) known += (known.empty() ? "" : ", ") + std::string(entry.name);
    complain(key, "must be one of " + known);
  }

  void complain(std::string_view key, const std::string& problem) {
    if (!problem_) problem_ = Error{"'" + std::string(key) + "' " + problem};
  }
  const std::optional<Error>& problem() const { return problem_; }

 private:
  /// A NUL would cut the string short wherever the kernel reads it.
  static bool take(const json::value& value, std::string& target) {
    if (!value.is_string()) return false;
    target.assign(value.get_string().data(), value.get_string().size());
    return target.find('\0') == std::string::npos;
  }

  const json::object& object_;
  std::optional<Error> problem_;
};

void check_descriptors(const std::vector<std::string>& names, Members& members) {
  const auto times = [&names](std::string_view name) { return std::count(names.begin(), names.end(), name); };
  const auto known = times("input") + times("output") + times("client");
  if (times("input") != 1 || times("output") != 1 || times("client") > 1 ||
      known != static_cast<std::ptrdiff_t>(names.size())) {
    members.complain("descriptors",
                     "must name input and output once each, client at most once, nothing else");
  }
}

void check_connect(Hello& hello, Members& members) {
  if (hello.server.empty() == hello.argv.empty()) {
    members.complain("server", "or 'argv' must be given, not both");
  }
  if (!hello.argv.empty() && hello.argv.front().empty()) {
    members.complain("argv", "must begin with a program");
  }
  if (!hello.cwd.starts_with('/')) members.complain("cwd", "must be an absolute path");
  if (!hello.share.empty() && hello.share != "shared" && hello.share != "session") {
    members.complain("share", "must be shared or session");
  }
  if (hello.client < 0) members.complain("client", "must be a process number");
  check_descriptors(hello.descriptors, members);
  // What is no variable cannot be handed on as one.
  std::erase_if(hello.environment, [](const std::string& entry) {
    const std::size_t equals = entry.find('=');
    return equals == std::string::npos || equals == 0;
  });
}

}  // namespace

std::string encode(const Hello& hello) {
  Writer writer;
  writer.number("protocol", hello.protocol);
  writer.text("verb", name_of(kVerbs, hello.verb));
  writer.text("version", hello.version);
  if (hello.verb != Verb::Connect) return writer.line();
  if (!hello.server.empty()) writer.text("server", hello.server);
  if (!hello.argv.empty()) writer.list("argv", hello.argv);
  writer.text("cwd", hello.cwd);
  if (!hello.share.empty()) writer.text("share", hello.share);
  writer.number("client", hello.client);
  writer.list("descriptors", hello.descriptors);
  writer.list("environment", hello.environment);
  return writer.line();
}

Result<Hello> decode_hello(std::string_view line) {
  const Result<json::object> object = parse_object(line);
  if (!object) return object.error();
  Members members(*object);
  Hello hello;
  hello.protocol = std::numeric_limits<int>::min();
  members.number("protocol", hello.protocol);
  if (hello.protocol == std::numeric_limits<int>::min()) members.complain("protocol", "is missing");
  members.text("version", hello.version);
  if (members.problem()) return *members.problem();
  // What another protocol means by its other members is not for us to judge.
  if (hello.protocol < kOldestProtocol || hello.protocol > kProtocol) return hello;
  members.choice("verb", kVerbs, hello.verb);
  if (hello.verb == Verb::Connect) {
    members.text("server", hello.server);
    members.list("argv", hello.argv);
    members.text("cwd", hello.cwd);
    members.text("share", hello.share);
    members.number("client", hello.client);
    members.list("descriptors", hello.descriptors);
    members.list("environment", hello.environment);
    check_connect(hello, members);
  }
  if (members.problem()) return *members.problem();
  return hello;
}

std::string encode(const Reply& reply) {
  Writer writer;
  writer.text("reply", name_of(kReplies, reply.kind));
  if (reply.kind == Reply::Kind::Status) {
    writer.raw("status", reply.text);
    return writer.line();
  }
  if (reply.kind == Reply::Kind::Stderr) {
    writer.number("size", static_cast<long>(reply.size));
    return writer.line();
  }
  if (!reply.text.empty()) writer.text("text", reply.text);
  if (reply.kind == Reply::Kind::Refused || reply.kind == Reply::Kind::Exit)
    writer.number("code", reply.code);
  if (reply.protocol != 0) writer.number("protocol", reply.protocol);
  if (!reply.version.empty()) writer.text("version", reply.version);
  return writer.line();
}

Result<Reply> decode_reply(std::string_view line) {
  const Result<json::object> object = parse_object(line);
  if (!object) return object.error();
  Members members(*object);
  Reply reply;
  members.choice("reply", kReplies, reply.kind);
  members.text("text", reply.text);
  members.number("code", reply.code);
  members.number("size", reply.size);
  members.number("protocol", reply.protocol);
  members.text("version", reply.version);
  if (members.problem()) return *members.problem();
  if (reply.kind == Reply::Kind::Status) {
    const json::value* status = object->if_contains("status");
    if (status == nullptr) return Error{"'status' is missing"};
    reply.text = json::serialize(*status);
  }
  return reply;
}

}  // namespace corral::control
