#include "control/hello.h"

#include <algorithm>
#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <limits>
#include <optional>
#include <utility>

#include "base/ignored_words.h"
#include "wire/json_writer.h"

namespace corral::control {
namespace {

namespace json = boost::json;
using wire::JsonObject;

template <class Value>
struct Name {
  Value value;
  std::string_view name;
};

constexpr std::array kVerbs = {Name<Verb>{Verb::Connect, "connect"},
                               Name<Verb>{Verb::Status, "status"},
                               Name<Verb>{Verb::Shutdown, "shutdown"},
                               Name<Verb>{Verb::Reload, "reload"},
                               Name<Verb>{Verb::Restart, "restart"},
                               Name<Verb>{Verb::Stop, "stop"},
                               Name<Verb>{Verb::Start, "start"},
                               Name<Verb>{Verb::SessionCreate, "session-create"},
                               Name<Verb>{Verb::SessionEnd, "session-end"},
                               Name<Verb>{Verb::SessionList, "session-list"},
                               Name<Verb>{Verb::Info, "info"},
                               Name<Verb>{Verb::Events, "events"},
                               Name<Verb>{Verb::Metrics, "metrics"}};

using Kind = Reply::Kind;
constexpr std::array kReplies = {Name<Kind>{Kind::Accepted, "accepted"}, Name<Kind>{Kind::RunIt, "run-it"},
                                 Name<Kind>{Kind::Refused, "refused"},   Name<Kind>{Kind::Note, "note"},
                                 Name<Kind>{Kind::Stderr, "stderr"},     Name<Kind>{Kind::Status, "status"},
                                 Name<Kind>{Kind::Result, "result"},     Name<Kind>{Kind::Exit, "exit"}};

template <class Names, class Value>
std::string_view name_of(const Names& names, Value value) {
  for (const auto& entry : names) {
    if (entry.value == value) return entry.name;
  }
  return "?";
}

// ---- writing

/// Not `wire::quoted`: bytes that are not UTF-8 stay as they are, because a path or a variable may contain
/// any, and must arrive unchanged.
std::string exact(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(text.size() + 2);
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
  return out += '"';
}

std::string exact_list(const std::vector<std::string>& values) { return wire::array_of(values, exact); }

std::string exact_lists(const std::vector<std::vector<std::string>>& values) {
  return wire::array_of(values, exact_list);
}

/// `json` is valid, so a line end can only be between values, where a space has the same meaning.
std::string on_one_line(std::string json) {
  std::replace_if(
      json.begin(), json.end(), [](char byte) { return byte == '\n' || byte == '\r'; }, ' ');
  return json;
}

// ---- reading

/// The time to parse a line depends on the number of its values, and all sessions wait meanwhile. Commas
/// separate values, so they are counted; those inside strings only make the limit stricter.
constexpr std::ptrdiff_t kMostCommas = std::ptrdiff_t{1} << 18;

Result<json::object> parse_object(std::string_view line) {
  json::error_code error;
  json::parse_options options;
  options.allow_invalid_utf8 = true;
  json::value value = json::parse(line, error, {}, options);
  if (error) return Error{"it is not valid JSON: " + error.message()};
  if (!value.is_object()) return Error{"it is not a JSON object"};
  return std::move(value.as_object());
}

/// Reads members of an object and remembers the first that is invalid. A missing member keeps its default.
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

  void flag(std::string_view key, bool& target) {
    const json::value* value = object_.if_contains(key);
    if (value == nullptr) return;
    if (!value->is_bool()) return complain(key, "must be true or false");
    target = value->get_bool();
  }

  void text(std::string_view key, std::string& target) {
    const json::value* value = object_.if_contains(key);
    if (value != nullptr && !take(*value, target)) complain(key, "must be a string without NUL");
  }

  void list(std::string_view key, std::vector<std::string>& target) {
    const json::value* value = object_.if_contains(key);
    if (value != nullptr) take_list(key, *value, target);
  }

  void lists(std::string_view key, std::vector<std::vector<std::string>>& target) {
    const json::value* value = object_.if_contains(key);
    if (value == nullptr) return;
    if (!value->is_array()) return complain(key, "must be an array of arrays of strings");
    for (const json::value& element : value->get_array()) take_list(key, element, target.emplace_back());
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
  void take_list(std::string_view key, const json::value& value, std::vector<std::string>& target) {
    if (!value.is_array()) return complain(key, "must be an array of strings");
    target.reserve(value.get_array().size());
    for (const json::value& element : value.get_array()) {
      if (!take(element, target.emplace_back()))
        return complain(key, "must contain only strings without NUL");
    }
  }
  /// The kernel would truncate the string at a NUL.
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

/// Fit for tables, logs and metrics. Empty is valid.
bool is_plain_name(const std::string& name) {
  constexpr std::size_t kLongest = 64;
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return name.size() <= kLongest && name.find_first_not_of(kPlain) == std::string::npos;
}

void read_cwd_and_environment(Hello& hello, Members& members) {
  members.text("cwd", hello.cwd);
  members.list("environment", hello.environment);
  if (!hello.cwd.starts_with('/')) members.complain("cwd", "must be an absolute path");
  // Without "NAME=" it cannot be passed on as a variable.
  std::erase_if(hello.environment, [](const std::string& entry) {
    const std::size_t equals = entry.find('=');
    return equals == std::string::npos || equals == 0;
  });
}

/// A configured server has this in its entry. The words are not repeated: they come from outside.
void read_ignore(const Hello& hello, Members& members) {
  if (hello.ignore.empty()) return;
  if (hello.argv.empty()) members.complain("ignore", "is only for a command in 'argv'");
  const std::string objection = objection_to_ignored(hello.ignore);
  if (!objection.empty()) members.complain("ignore", "has a word that is refused: " + objection);
}

void read_connect(Hello& hello, Members& members) {
  members.text("server", hello.server);
  members.list("argv", hello.argv);
  members.text("name", hello.name);
  members.text("session", hello.session);
  members.text("root", hello.root);
  members.text("share", hello.share);
  members.flag("quiet", hello.quiet);
  members.list("ignore", hello.ignore);
  members.number("client", hello.client);
  members.list("descriptors", hello.descriptors);
  read_cwd_and_environment(hello, members);
  if (hello.server.empty() == hello.argv.empty()) {
    members.complain("server", "or 'argv' must be given, not both");
  }
  if (!hello.argv.empty() && hello.argv.front().empty()) {
    members.complain("argv", "must begin with a program");
  }
  if (!is_plain_name(hello.name)) {
    members.complain("name", "must be at most 64 letters, digits, '.', '_' and '-'");
  }
  if (!hello.root.empty() && !hello.root.starts_with('/')) {
    members.complain("root", "must be an absolute path");
  }
  if (!hello.share.empty() && hello.share != "shared" && hello.share != "session" && hello.share != "root") {
    members.complain("share", "must be shared, session or root");
  }
  read_ignore(hello, members);
  if (hello.client < 0) members.complain("client", "must be a pid");
  check_descriptors(hello.descriptors, members);
}

void read_session_create(Hello& hello, Members& members) {
  std::int64_t ttl = 0;
  members.list("servers", hello.servers);
  members.lists("commands", hello.commands);
  members.number("owner", hello.owner);
  members.number("ttl_ms", ttl);
  read_cwd_and_environment(hello, members);
  for (const std::string& name : hello.servers) {
    if (name.empty()) members.complain("servers", "must contain names");
  }
  for (const auto& command : hello.commands) {
    if (command.empty() || command.front().empty()) {
      members.complain("commands", "must contain commands that begin with a program");
    }
  }
  if (hello.servers.size() + hello.commands.size() > kMostServers) {
    members.complain("servers", "and 'commands' must be at most " + std::to_string(kMostServers) + " in all");
  }
  if (hello.owner < 0) members.complain("owner", "must be a pid");
  if (ttl < 0 || ttl > kLongestTtl.count()) members.complain("ttl_ms", "must be between 0 and a year");
  hello.ttl = std::chrono::milliseconds(ttl);
}

void read_events(Hello& hello, Members& members) {
  std::int64_t wait = 0;
  members.number("after", hello.after);
  members.number("limit", hello.limit);
  members.number("wait_ms", wait);
  if (hello.limit == 0 || hello.limit > kMostEvents) {
    members.complain("limit", "must be between 1 and " + std::to_string(kMostEvents));
  }
  if (wait < 0 || wait > kLongestWait.count()) members.complain("wait_ms", "must be between 0 and a minute");
  hello.wait = std::chrono::milliseconds(wait);
}

/// The members of one verb.
void read_verb(Hello& hello, Members& members) {
  switch (hello.verb) {
    case Verb::Connect: return read_connect(hello, members);
    case Verb::SessionCreate: return read_session_create(hello, members);
    case Verb::Restart:
    case Verb::Stop:
    case Verb::Start:
      members.text("server", hello.server);
      if (hello.server.empty()) members.complain("server", "must name a server");
      return;
    case Verb::SessionEnd:
      members.text("session", hello.session);
      if (hello.session.empty()) members.complain("session", "must name a session");
      return;
    case Verb::Status: return members.flag("measure", hello.measure);
    case Verb::Events: return read_events(hello, members);
    case Verb::Shutdown:
    case Verb::Reload:
    case Verb::SessionList:
    case Verb::Info:
    case Verb::Metrics: return;
  }
}

void write_connect(JsonObject& line, const Hello& hello) {
  if (!hello.server.empty()) line.raw("server", exact(hello.server));
  if (!hello.argv.empty()) line.raw("argv", exact_list(hello.argv));
  if (!hello.name.empty()) line.raw("name", exact(hello.name));
  if (!hello.session.empty()) line.raw("session", exact(hello.session));
  line.raw("cwd", exact(hello.cwd));
  if (!hello.root.empty()) line.raw("root", exact(hello.root));
  if (!hello.share.empty()) line.raw("share", exact(hello.share));
  if (hello.quiet) line.flag("quiet", true);
  if (!hello.ignore.empty()) line.raw("ignore", exact_list(hello.ignore));
  line.number("client", hello.client);
  line.raw("descriptors", exact_list(hello.descriptors));
  line.raw("environment", exact_list(hello.environment));
}

void write_session_create(JsonObject& line, const Hello& hello) {
  line.raw("servers", exact_list(hello.servers));
  line.raw("commands", exact_lists(hello.commands));
  if (hello.owner != 0) line.number("owner", hello.owner);
  if (hello.ttl.count() != 0) line.number("ttl_ms", hello.ttl.count());
  line.raw("cwd", exact(hello.cwd));
  line.raw("environment", exact_list(hello.environment));
}

void write_events(JsonObject& line, const Hello& hello) {
  line.number("after", hello.after);
  line.number("limit", hello.limit);
  if (hello.wait.count() != 0) line.number("wait_ms", hello.wait.count());
}

}  // namespace

std::string served_protocols() {
  return kOldestProtocol == kProtocol ? std::to_string(kProtocol)
                                      : std::to_string(kOldestProtocol) + " to " + std::to_string(kProtocol);
}

std::string encode(const Hello& hello) {
  JsonObject line;
  line.number("protocol", hello.protocol);
  line.raw("verb", exact(name_of(kVerbs, hello.verb)));
  line.raw("version", exact(hello.version));
  switch (hello.verb) {
    case Verb::Connect: write_connect(line, hello); break;
    case Verb::SessionCreate: write_session_create(line, hello); break;
    case Verb::Restart:
    case Verb::Stop:
    case Verb::Start: line.raw("server", exact(hello.server)); break;
    case Verb::SessionEnd: line.raw("session", exact(hello.session)); break;
    case Verb::Status:
      if (hello.measure) line.flag("measure", true);
      break;
    case Verb::Events: write_events(line, hello); break;
    case Verb::Shutdown:
    case Verb::Reload:
    case Verb::SessionList:
    case Verb::Info:
    case Verb::Metrics: break;
  }
  return line.json() + "\n";
}

Result<Hello> decode_hello(std::string_view line) {
  if (std::count(line.begin(), line.end(), ',') > kMostCommas) return Error{"it has more than 262144 values"};
  const Result<json::object> object = parse_object(line);
  if (!object) return object.error();
  Members members(*object);
  Hello hello;
  hello.protocol = std::numeric_limits<int>::min();
  members.number("protocol", hello.protocol);
  if (hello.protocol == std::numeric_limits<int>::min()) members.complain("protocol", "is missing");
  members.text("version", hello.version);
  if (members.problem()) return *members.problem();
  // The members of another protocol version may mean something else, so they are not checked.
  if (hello.protocol < kOldestProtocol || hello.protocol > kProtocol) return hello;
  members.choice("verb", kVerbs, hello.verb);
  if (members.problem()) return *members.problem();
  read_verb(hello, members);
  if (members.problem()) return *members.problem();
  return hello;
}

bool Reply::is_from_ending_daemon() const {
  constexpr std::string_view kEndingWords = "shutting down";
  static_assert(std::string_view(kShuttingDown).ends_with(kEndingWords));
  return kind == Kind::RunIt && text.find(kEndingWords) != std::string::npos;
}

std::string encode(const Reply& reply) {
  JsonObject line;
  line.raw("reply", exact(name_of(kReplies, reply.kind)));
  if (reply.kind == Reply::Kind::Status || reply.kind == Reply::Kind::Result) {
    line.raw(name_of(kReplies, reply.kind), on_one_line(reply.text));
    return line.json() + "\n";
  }
  if (reply.kind == Reply::Kind::Stderr) {
    line.number("size", reply.size);
    return line.json() + "\n";
  }
  if (!reply.text.empty()) line.raw("text", exact(reply.text));
  if (reply.kind == Reply::Kind::Refused || reply.kind == Reply::Kind::Exit) line.number("code", reply.code);
  if (reply.protocol != 0) line.number("protocol", reply.protocol);
  if (!reply.version.empty()) line.raw("version", exact(reply.version));
  return line.json() + "\n";
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
  if (reply.kind == Reply::Kind::Status || reply.kind == Reply::Kind::Result) {
    const std::string_view name = name_of(kReplies, reply.kind);
    const json::value* value = object->if_contains(name);
    if (value == nullptr) return Error{"'" + std::string(name) + "' is missing"};
    reply.text = json::serialize(*value);
  }
  return reply;
}

}  // namespace corral::control
