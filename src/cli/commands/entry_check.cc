#include "cli/commands/entry_check.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <chrono>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/secrets.h"
#include "base/text.h"
#include "cli/commands/next_steps.h"
#include "cli/direct/mcp_client.h"
#include "cli/direct/tool_catalog.h"
#include "config/show.h"
#include "instance/handshake.h"
#include "proc/command_lookup.h"
#include "shim/fallback.h"
#include "shim/root.h"
#include "wire/json_text.h"

namespace corral::cli {
namespace {

namespace json = boost::json;
using std::chrono::steady_clock;

constexpr std::chrono::minutes kPatience{2};  // the first start of a package downloads it
constexpr std::size_t kLastLines = 6;
constexpr off_t kLastBytes = 64 << 10;
constexpr std::size_t kLongestShown = 400;
constexpr std::size_t kMostOfOnePage = 10'000;

/// A directory for the report, which is gone with this object.
class Scratch {
 public:
  Scratch() {
    std::error_code unknown;
    path_ = (std::filesystem::temp_directory_path(unknown) / "corral-try-XXXXXX").string();
    if (mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  ~Scratch() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// The arguments of `corral` that run the server under a keeper of its own. Its variables are not among them,
/// because every user can read a command line.
std::vector<std::string> run_arguments(const proc::LaunchSpec& launch, const std::string& report) {
  std::vector<std::string> words = {"run", "--report", report, "--containment",
                                    config::name_of(launch.containment)};
  const auto add = [&words](const char* option, const std::string& value) {
    words.insert(words.end(), {option, value});
  };
  if (!launch.directory.empty()) add("--cwd", launch.directory);
  if (launch.limits.memory_bytes) add("--memory", std::to_string(*launch.limits.memory_bytes));
  if (launch.limits.processes) add("--pids", std::to_string(*launch.limits.processes));
  if (launch.limits.cpu_thousandths) add("--cpu", std::to_string(*launch.limits.cpu_thousandths / 1000.0));
  words.emplace_back("--");
  words.insert(words.end(), launch.argv.begin(), launch.argv.end());
  return words;
}

/// Without words that look like credentials: the text may end up in a bug report.
std::string without_secrets(const std::string& line) {
  std::string shown;
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    const std::size_t sign = word.find('=');
    const bool named = sign != std::string::npos && names_secret(word.substr(0, sign));
    if (named) word.replace(sign + 1, std::string::npos, "***");
    shown += (shown.empty() ? "" : " ") + (!named && looks_secret(word) ? "***" : word);
  }
  return shown;
}

/// The end of what the server and its keeper wrote to stderr, safe for a terminal.
std::string last_lines(int file) {
  const off_t size = lseek(file, 0, SEEK_END);
  std::string text(static_cast<std::size_t>(std::clamp<off_t>(size, 0, kLastBytes)), '\0');
  const ssize_t got = pread(file, text.data(), text.size(), std::max<off_t>(size - kLastBytes, 0));
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  std::deque<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    lines.push_back(printable_line(without_secrets(line.substr(0, kLongestShown))));
    if (lines.size() > kLastLines) lines.pop_front();
  }
  std::string shown;
  for (const std::string& line : lines) shown += "\n  " + line;
  return shown;
}

/// From the report of `corral run`: whether the kernel said that nothing is left.
std::string proof_in(const std::string& report) {
  std::ostringstream text;
  text << std::ifstream(report).rdbuf();
  boost::system::error_code error;
  const json::value value = json::parse(text.str(), error);
  const json::value* const leaked =
      error || !value.is_object() ? nullptr : value.get_object().if_contains("leaked");
  const bool proved = leaked != nullptr && leaked->is_bool() && !leaked->get_bool();
  return proved ? "it has been ended, and no process is left"
                : "there is no proof that all its processes have ended; `corral doctor` shows what is left";
}

struct Asked {
  Answer answer;
  std::size_t tools = 0;
};

/// A server of the modern era does not know initialize.
Asked ask_modern(McpClient& client) {
  Asked asked{client.ask("server/discover", instance::discover_params())};
  if (!asked.answer.ok()) return asked;
  asked.answer = client.ask("tools/list", instance::discover_params());
  const std::string_view tools = wire::member_text(asked.answer.json, "tools");
  const auto elements = wire::array_elements(tools, kMostOfOnePage);
  if (asked.answer.ok() && elements) asked.tools = elements->size();
  return asked;
}

Asked ask_for_tools(McpClient& client, const std::vector<std::string>& words, const ChildPlace& place,
                    steady_clock::time_point& ready) {
  Asked asked{client.begin(words, &place)};
  ready = steady_clock::now();
  if (asked.answer.ok()) {
    ToolCatalog catalog = list_tools(client);
    return {std::move(catalog.answer), catalog.tools.size()};
  }
  if (asked.answer.kind != Answer::Kind::Error) return asked;
  Asked modern = ask_modern(client);
  ready = steady_clock::now();
  return modern.answer.ok() ? modern : asked;
}

/// "35ms", "1.2s".
std::string shown_wait(steady_clock::duration time) {
  const auto exact = std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
  if (exact < 1000) return std::to_string(exact) + "ms";
  char text[32];
  std::snprintf(text, sizeof text, "%.1fs", std::chrono::duration<double>(time).count());
  return text;
}

Result<proc::LaunchSpec> launch_of(config::Server server) {
  config::Configuration alone;
  alone.file = "the new entry";
  server.disabled = false;
  const std::string name = server.name;
  alone.servers.push_back(std::move(server));
  return shim::launch_configured(name, alone, own_variables());
}

}  // namespace

std::vector<std::string> client_environment() {
  std::error_code unknown;
  return shim::with_root(own_variables(), std::filesystem::current_path(unknown).string());
}

std::vector<std::string> doubts_about(const config::Server& server,
                                      const std::vector<std::string>& environment) {
  std::vector<std::string> doubts;
  const Result<config::Server> expanded = config::expand(server, environment);
  if (!expanded) doubts.push_back("in this shell: " + expanded.error().message);
  const config::Server& known = expanded ? *expanded : server;
  const std::string& command = known.argv.front();
  if (command.find("${") != std::string::npos) return doubts;  // its variable has been named
  // An entry may bring its own PATH.
  std::vector<std::string> variables = environment;
  for (const auto& [name, value] : known.env) {
    std::string variable = name;
    variable.append("=").append(value);
    variables.insert(variables.begin(), std::move(variable));
  }
  const Result<proc::Executable> found = proc::find_command(command, variables, known.cwd);
  if (!found) doubts.push_back("in this shell: server '" + server.name + "': " + found.error().message + ".");
  return doubts;
}

std::string credential_warning(const std::string& server, const config::PlainCredential& credential,
                               const std::string& file) {
  return "'" + server + "': " + credential.place + " is stored in plain text in " + file + "; write ${" +
         credential.variable + "} there, and export " + credential.variable + " where your clients start.";
}

std::vector<std::string> credential_warnings(const config::Server& server, const std::string& file) {
  json::object entry{{"command", server.argv.front()}};
  entry["args"] = json::array(server.argv.begin() + 1, server.argv.end());
  json::object& variables = entry["env"].emplace_object();
  for (const auto& [name, value] : server.env) variables[name] = value;
  std::vector<std::string> warnings;
  for (const config::PlainCredential& one : config::plain_credentials(entry)) {
    warnings.push_back(credential_warning(server.name, one, file));
  }
  return warnings;
}

Result<std::string> try_server(const config::Server& server, Interrupts& interrupts) {
  const Result<proc::LaunchSpec> launch = launch_of(server);
  if (!launch) return launch.error();
  const Scratch scratch;
  const UniqueFd errors(memfd_create("corral-try", MFD_CLOEXEC));
  if (scratch.path().empty() || !errors.valid()) {
    return Error{"cannot create a temporary file: check that the temporary directory is writable"};
  }
  const std::string report = scratch.path() + "/report";
  const ChildPlace place{launch->environment, errors.get()};
  const auto begun = steady_clock::now();
  auto ready = begun;
  McpClient client(interrupts, {}, kPatience);
  const Asked asked = ask_for_tools(client, run_arguments(*launch, report), place, ready);
  client.end();
  if (asked.answer.ok()) {
    return {boost::system::in_place_value, "ready in " + shown_wait(ready - begun) + ", " +
                                               counted(asked.tools, "tool") + "; " + proof_in(report)};
  }
  const std::string lines = last_lines(errors.get());
  return Error{printable_line(asked.answer.message) +
               (lines.empty() ? "; it wrote nothing to stderr" : "; its last lines on stderr:" + lines)};
}

}  // namespace corral::cli
