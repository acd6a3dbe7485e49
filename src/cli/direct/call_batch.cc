#include "cli/direct/call_batch.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <optional>

#include "base/text.h"
#include "base/units.h"
#include "cli/direct/tool_arguments.h"
#include "cli/direct/tool_result.h"
#include "cli/frame/command.h"
#include "cli/screen/json_layout.h"
#include "wire/json_writer.h"
#include "wire/line_reader.h"

namespace corral::cli {
namespace {

// More than any call needs, and small enough to keep in memory.
constexpr std::size_t kLargestInput = std::size_t{64} << 20;

Answer refused(std::string message) { return {Answer::Kind::Error, "", std::move(message), kBadArguments}; }

Error unreadable() { return Error{std::string("cannot read stdin: ") + std::strerror(errno)}; }

/// Reads from stdin, waiting if necessary. 0 = end of input, or Ctrl+C, for which the caller checks. While it
/// waits it handles messages from the server, which may send pings and would otherwise fill the pipe.
Result<std::size_t> read_some(std::span<char> room, Interrupts& interrupts, McpClient* client) {
  for (;;) {
    const int server = client == nullptr ? -1 : client->fd();
    std::array<pollfd, 3> ready = {pollfd{interrupts.fd(), POLLIN, 0}, pollfd{STDIN_FILENO, POLLIN, 0},
                                   pollfd{server, POLLIN, 0}};
    if (poll(ready.data(), ready.size(), -1) < 0) {
      if (errno != EINTR) return unreadable();
      continue;
    }
    if (interrupts.signal() != 0) return std::size_t{0};
    if (ready[2].revents != 0) client->listen();
    if (ready[1].revents == 0) continue;
    const ssize_t got = read(STDIN_FILENO, room.data(), room.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return unreadable();
    return static_cast<std::size_t>(got);
  }
}

/// One line of a batch.
struct Call {
  std::string id;  // JSON text
  std::string tool;
  std::string arguments = "{}";
};

Result<boost::json::object> object_in(std::string_view line) {
  boost::json::parse_options deep;
  deep.max_depth = 512;
  boost::system::error_code error;
  const boost::json::value value = boost::json::parse({line.data(), line.size()}, error, {}, deep);
  if (error) return Error{"the line is not valid JSON: " + error.message()};
  if (!value.is_object()) return Error{R"(the line is not an object such as {"tool":"NAME","arguments":{}})"};
  return value.get_object();
}

/// Refuses unknown members: with a misspelt "arguments", the tool would be called without arguments.
Result<void> check_members(const boost::json::object& call) {
  for (const auto& member : call) {
    if (member.key() == "tool" || member.key() == "arguments" || member.key() == "id") continue;
    return Error{"the line has an unknown member '" + printable_line(member.key()) +
                 "': use tool, arguments and id"};
  }
  return {};
}

/// Sets the id even if the rest is invalid, so that the answer can name it.
Result<void> parse_call(std::string_view line, Call& call) {
  const Result<boost::json::object> written = object_in(line);
  if (!written) return written.error();
  if (const wire::Span id = wire::member(line, "id"); id.present()) call.id = on_one_line(id.in(line));
  const Result<void> checked = check_members(*written);
  if (!checked) return checked.error();
  const auto tool = wire::string_value(wire::member(line, "tool").in(line));
  if (!tool) return Error{"the line has no \"tool\": add the name of the tool"};
  call.tool = *tool;
  const wire::Span arguments = wire::member(line, "arguments");
  if (!arguments.present()) return {};
  const Result<std::string> object = arguments_from_json(arguments.in(line), "of the line");
  if (!object) return object.error();
  call.arguments = *object;
  return {};
}

class Batch {
 public:
  Batch(McpClient& client, ToolCatalog& catalog, std::string server)
      : client_(client), catalog_(catalog), server_(std::move(server)) {}

  int exit_code() const { return exit_code_; }

  /// False = the answer could not be written. Then no further call is made, because its result would be lost.
  bool take(std::string_view line) {
    Call call{std::to_string(++number_), ""};
    const Result<void> understood = parse_call(line, call);
    return report(call, understood ? make(call) : refused(understood.error().message));
  }
  bool refuse_oversized(std::size_t bytes) {
    return report({std::to_string(++number_), ""}, refused("the line is too large: " + show_size(bytes)));
  }

 private:
  Answer make(const Call& call) {
    const Tool* const tool = find_tool(client_, catalog_, call.tool);
    if (tool == nullptr) return catalog_.why_missing(call.tool, server_);
    return call_tool(client_, *tool, call.arguments);
  }

  bool report(const Call& call, const Answer& answer) {
    const int code = exit_code_of(answer);
    if (exit_code_ == 0) exit_code_ = code;
    wire::JsonObject line;
    line.raw("id", call.id).number("exit", code);
    if (answer.ok()) {
      line.raw("result", on_one_line(answer.json));
    } else if (!answer.json.empty()) {
      line.raw("error", on_one_line(answer.json));
    } else {
      line.raw("error", wire::JsonObject().text("message", answer.message).json());
    }
    std::cout << json_for(STDOUT_FILENO, line.json()) << '\n' << std::flush;
    return std::cout.good();
  }

  McpClient& client_;
  ToolCatalog& catalog_;
  std::string server_;
  std::size_t number_ = 0;
  int exit_code_ = 0;
};

}  // namespace

Answer call_tool(McpClient& client, const Tool& tool, const std::string& arguments) {
  const Result<void> fits = check_arguments(schema_of(tool), arguments);
  if (!fits) return refused(printable_line(tool.name) + ": " + fits.error().message);
  return client.ask("tools/call",
                    wire::JsonObject().text("name", tool.name).raw("arguments", arguments).json());
}

int exit_code_of(const Answer& answer) {
  return answer.ok() && is_error(answer.json) ? kToolFailed : answer.exit_code;
}

namespace {

/// False = an answer could not be written.
bool handle_lines(wire::LineReader& reader, Batch& batch, Interrupts& interrupts) {
  while (const auto line = reader.next()) {
    if (interrupts.signal() != 0) break;
    if (!batch.take(line->text)) return false;
  }
  while (const auto line = reader.take_oversized()) {
    if (!batch.refuse_oversized(line->bytes)) return false;
  }
  return true;
}

int own_failure(const std::string& sentence) {
  fail("call", sentence);
  return kOwnFailure;
}

}  // namespace

int run_batch(McpClient& client, ToolCatalog& catalog, const std::string& server, Interrupts& interrupts) {
  wire::LineReader reader(kLargestInput);
  static std::array<char, 65536> scratch;
  Batch batch(client, catalog, server);
  for (bool more = true; more && interrupts.signal() == 0;) {
    const std::span<char> room = reader.room(scratch);
    const Result<std::size_t> read = read_some(room, interrupts, &client);
    if (!read) return own_failure(read.error().message + "; the batch was ended");
    std::size_t got = *read;
    more = got > 0;
    if (!more) room[got++] = '\n';  // the last line may lack its line break
    reader.took(got);
    if (!handle_lines(reader, batch, interrupts)) {
      return own_failure("cannot write to stdout (is the pipe closed?); no further calls are made");
    }
  }
  const int signo = interrupts.signal();
  return signo != 0 ? 128 + signo : batch.exit_code();
}

Result<std::string> read_input(Interrupts& interrupts) {
  std::string all;
  std::array<char, 65536> bytes;
  for (;;) {
    const Result<std::size_t> got = read_some(bytes, interrupts, nullptr);
    if (!got) return got.error();
    if (*got == 0) return {boost::system::in_place_value, std::move(all)};
    all.append(bytes.data(), *got);
    if (all.size() > kLargestInput) {
      return Error{"the arguments on stdin are too large: at most " + show_size(kLargestInput)};
    }
  }
}

}  // namespace corral::cli
