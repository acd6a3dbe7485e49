// `corral status`: what the daemon runs, for whom, and why a server is shared or not.
#include <unistd.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <iostream>
#include <memory>

#include "app/requests.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/option_values.h"
#include "cli/page.h"
#include "control/channel.h"

namespace corral::cli {
namespace {

namespace json = boost::json;

constexpr const char* kExamples = R"(Examples:
  corral status
  corral status --json | jq '.instances[] | {server, share, reason}'

Exit code: 0 if a daemon answers, 1 if none runs, 125 if one cannot be asked. docs/operations/daemon.md describes the JSON.)";

constexpr std::chrono::seconds kPatience{10};
constexpr int kNoDaemon = 1;

struct Options {
  std::string runtime_dir;
  bool json = false;
};

// The daemon may be older or newer than we are: a member that is missing or of another type is shown as "-".

const json::value* member(const json::value& value, std::string_view name) {
  const json::object* const object = value.if_object();
  return object == nullptr ? nullptr : object->if_contains(name);
}

/// What clients call themselves goes to a terminal: one line, nothing that steers it.
std::string printable(std::string_view text) {
  std::string shown;
  for (const char byte : text) shown += static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f ? '?' : byte;
  return shown;
}

std::string text_of(const json::value* value) {
  if (value == nullptr || value->is_null()) return "-";
  if (value->is_string()) return value->get_string().empty() ? "-" : printable(value->get_string());
  if (value->is_number() || value->is_bool()) return json::serialize(*value);
  return "-";
}

std::string text(const json::value& value, std::string_view name) { return text_of(member(value, name)); }

std::string age(const json::value& value, std::string_view name) {
  const json::value* const number = member(value, name);
  if (number == nullptr || !number->is_number()) return "-";
  boost::system::error_code error;
  const auto count = number->to_number<std::int64_t>(error);
  return error ? "-" : show_age(std::chrono::milliseconds(count));
}

const json::array& list(const json::value& value, std::string_view name) {
  static const json::array none;
  const json::value* const found = member(value, name);
  return found != nullptr && found->is_array() ? found->get_array() : none;
}

std::string client(const json::value& session) {
  const json::value* const who = member(session, "client");
  if (who == nullptr) return "-";
  std::string shown = text(*who, "name");
  if (text(*who, "version") != "-") shown += " " + text(*who, "version");
  return text(*who, "pid") == "-" ? shown : shown + " (pid " + text(*who, "pid") + ")";
}

void show_instances(Page& page, const json::array& instances) {
  std::vector<std::vector<std::string>> rows;
  for (const json::value& instance : instances) {
    rows.push_back({text(instance, "server"), text(instance, "id").substr(0, 8), text(instance, "pid"),
                    text(instance, "state"), text(instance, "level"), age(instance, "uptime_ms"),
                    text(instance, "calls"), std::to_string(list(instance, "sessions").size())});
  }
  page.table("  ",
             {{"SERVER"},
              {"INSTANCE"},
              {"PID", true},
              {"STATE"},
              {"LEVEL"},
              {"UP", true},
              {"CALLS", true},
              {"SESSIONS", true}},
             rows);
  for (const json::value& instance : instances) {
    page.paragraph("  ", text(instance, "server") + " " + text(instance, "id").substr(0, 8) + " is " +
                             text(instance, "reason"));
  }
}

void show_sessions(Page& page, const json::array& sessions) {
  std::vector<std::vector<std::string>> rows;
  for (const json::value& session : sessions) {
    rows.push_back({text(session, "id"), text(session, "server"), text(session, "instance").substr(0, 8),
                    age(session, "age_ms"), text(session, "calls"), client(session)});
  }
  page.table("  ",
             {{"SESSION"}, {"SERVER"}, {"INSTANCE"}, {"AGE", true}, {"CALLS", true}, {"CLIENT", false, true}},
             rows);
}

void show(const json::value& status) {
  Page page(std::cout, look_of(STDOUT_FILENO));
  static const json::value nobody;
  const json::value* const found = member(status, "daemon");
  const json::value& daemon = found == nullptr ? nobody : *found;
  const std::string configured = text(daemon, "config");
  page.paragraph("", "corral " + text(daemon, "version") + " (build " + text(daemon, "build") + "), pid " +
                         text(daemon, "pid") + ", up " + age(daemon, "uptime_ms") +
                         (configured.size() > 1 ? ", configured by " + shorten_home(configured) : ""));
  page.blank();
  const json::array& instances = list(status, "instances");
  page.heading("Instances: " + std::to_string(instances.size()));
  if (!instances.empty()) show_instances(page, instances);
  page.blank();
  const json::array& sessions = list(status, "sessions");
  page.heading("Sessions: " + std::to_string(sessions.size()));
  if (!sessions.empty()) show_sessions(page, sessions);
}

int run(const Options& options, const std::vector<std::string>& words) {
  const Result<void> nothing_more = expect_no_words(words);
  if (!nothing_more) return fail("status", nothing_more.error().message);
  Result<control::Channel> channel = control::connect_to_daemon(options.runtime_dir);
  if (!channel && channel.error().kind == Error::Kind::NotFound) {
    std::cerr << "corral status: no daemon is running; `corral connect` starts one, or `corral serve`\n";
    return kNoDaemon;
  }
  if (!channel) return fail("status", channel.error().message);
  const Result<std::string> answer = app::ask_status(*channel, kPatience);
  if (!answer) return fail("status", answer.error().message);
  boost::system::error_code error;
  const json::value status = json::parse(*answer, error);
  if (error) return fail("status", "the daemon's answer is no JSON: " + error.message());
  if (options.json) {
    std::cout << *answer << '\n';
  } else {
    show(status);
  }
  return 0;
}

}  // namespace

Command status_command() {
  auto options = std::make_shared<Options>();

  Command command;
  command.name = "status";
  command.summary = "Show what the daemon runs, for whom, and why it is shared or not.";
  command.usage = "corral status [options]";
  command.examples = kExamples;
  command.options.push_back({"--json", "", "As JSON, all of it", set_flag(options->json)});
  command.options.push_back({"--runtime-dir", "DIR", "Where to find the daemon, if not in the usual places",
                             set_word(options->runtime_dir)});
  command.run = [options](const std::vector<std::string>& words) { return run(*options, words); };
  return command;
}

}  // namespace corral::cli
