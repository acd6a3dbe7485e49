#include "daemon/verbs.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "daemon/evidence.h"
#include "wire/json_writer.h"

namespace corral::daemon {
namespace {

using control::Reply;
using control::Verb;
using transport::Answer;
using transport::Question;
using Parts = std::shared_ptr<Verbs::Parts>;

Reply refusal(const std::string& why) { return Reply{Reply::Kind::Refused, why, kRefused, 0, 0, ""}; }
Reply result(std::string json) { return Reply{Reply::Kind::Result, std::move(json), 0, 0, 0, ""}; }

std::string by_process(const char* what, const Question& question) {
  return std::string(what) + " by process " + std::to_string(question.peer);
}

std::chrono::milliseconds time_since(Clock::time_point then) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - then);
}

// ---- looking

void show_status(const Parts& parts, Question& question, const Answer& answer) {
  const auto show = [answer](const observe::Snapshot& snapshot) {
    answer(Reply{Reply::Kind::Status, observe::status_json(snapshot), 0, 0, 0, ""});
  };
  if (question.hello.measure) return parts->snapshots.measure(show);
  show(parts->snapshots.now());
}

void show_info(const Parts& parts, Question&, const Answer& answer) {
  parts->snapshots.measure(
      [answer](const observe::Snapshot& snapshot) { answer(result(observe::info_json(snapshot))); });
}

void show_events(const Parts& parts, Question& question, const Answer& answer) {
  const control::Hello& hello = question.hello;
  parts->records.reader().read({hello.after, hello.limit, hello.wait},
                               [answer](const std::string& json) { answer(result(json)); });
}

void show_metrics(const Parts& parts, Question&, const Answer& answer) {
  parts->snapshots.measure([records = &parts->records, answer](const observe::Snapshot& snapshot) {
    answer(result(wire::JsonObject().text("text", records->metrics().text(snapshot)).json()));
  });
}

void list_sessions(const Parts& parts, Question&, const Answer& answer) {
  answer(result(observe::session_objects_json(parts->owned.list())));
}

// ---- the daemon

void shut_down(const Parts& parts, Question& question, const Answer& answer) {
  const bool first = !parts->drain.begun();
  parts->drain.run(parts->definitions.options().drain, [answer](const Drained& drained) {
    const std::string text =
        "ended " + counted(drained.sessions, "session") + " and " + counted(drained.instances, "instance");
    answer(Reply{Reply::Kind::Exit, text, 0, 0, 0, ""});
  });
  if (parts->asked_to_stop) parts->asked_to_stop(by_process("corral shutdown", question));
  if (first)
    parts->drain.cancel_hurry();  // the daemon process has started a drain, too, but this is one request
}

std::string to_json(const Reloaded& reloaded) {
  return wire::JsonObject()
      .raw("changed", wire::array_of_texts(reloaded.changed))
      .raw("added", wire::array_of_texts(reloaded.added))
      .raw("removed", wire::array_of_texts(reloaded.removed))
      .number("ended", reloaded.ended)
      .raw("warnings", wire::array_of_texts(reloaded.warnings))
      .json();
}

void reload(const Parts& parts, Question& question, const Answer& answer) {
  parts->reload.run(by_process("corral reload", question), [answer](const Result<Reloaded>& reloaded) {
    answer(reloaded ? result(to_json(*reloaded)) : refusal(reloaded.error().message));
  });
}

// ---- one server

std::string one_server_json(const std::string& server, const std::vector<pool::InstanceEnd>& ended,
                            Clock::time_point began, std::size_t sessions,
                            std::optional<bool> allowed = std::nullopt) {
  wire::JsonObject json;
  json.text("server", server);
  if (allowed) json.flag("allowed", *allowed);
  return json.raw("ended", ended_json(ended))
      .number("ms", time_since(began).count())
      .number("sessions", sessions)
      .json();
}

/// How many sessions the server has, with and without an instance.
std::size_t sessions_named(const Parts& parts, const std::string& server) {
  std::size_t count = 0;
  for (const auto& [id, connected] : parts->sessions) {
    if (connected.session().attachment().server() == server) ++count;
  }
  return count;
}

/// Answers when the instances are gone.
void retire(const Parts& parts, const std::string& server, pool::Cause cause, const Answer& answer) {
  parts->pool.retire(server, cause,
                     [server, began = Clock::now(), sessions = sessions_named(parts, server),
                      answer](const std::vector<pool::InstanceEnd>& ended) {
                       answer(result(one_server_json(server, ended, began, sessions)));
                     });
}

/// The names of the commands that clients brought along. A command keeps its name when it has no process, and
/// no session either: its next session gets the same one.
std::set<std::string> commands_of(const Parts& parts) {
  const std::vector<std::string> known = parts->definitions.commands();
  std::set<std::string> names(known.begin(), known.end());
  for (const pool::Slot& slot : parts->pool.slots()) {
    if (!slot.spec().from_configuration) names.insert(slot.spec().server);
  }
  for (const auto& [id, connected] : parts->sessions) {
    if (!connected.origin.configured()) names.insert(connected.origin.server);
  }
  for (const std::string& stopped : parts->pool.stopped()) {
    if (parts->definitions.find(stopped) == nullptr) names.insert(stopped);
  }
  return names;
}

/// The error if there is no server of that name, configured or as a command.
std::string objection_to_name(const Parts& parts, const std::string& server) {
  if (parts->definitions.find(server) != nullptr) return {};
  const std::set<std::string> commands = commands_of(parts);
  return commands.contains(server)
             ? std::string()
             : no_such_server(server, parts->definitions.configuration(), {commands.begin(), commands.end()})
                   .message;
}

/// Why this server may not be started; empty if it may.
std::string objection_to_start(const Parts& parts, const std::string& server) {
  const config::Server* const entry = parts->definitions.find(server);
  if (entry != nullptr && entry->disabled) {
    return "server " + server + " is disabled in " + entry->file;
  }
  return objection_to_name(parts, server);
}

void stop(const Parts& parts, Question& question, const Answer& answer) {
  const std::string& server = question.hello.server;
  const std::string objection = objection_to_name(parts, server);
  if (!objection.empty()) return answer(refusal(objection));
  const config::Server* const entry = parts->definitions.find(server);
  if (entry != nullptr && entry->built_in) {
    return answer(refusal("server " + server +
                          " is the control server and starts on demand: `corral shutdown` "
                          "ends the daemon"));
  }
  retire(parts, server, pool::Cause::Stopped, answer);
}

void start(const Parts& parts, Question& question, const Answer& answer) {
  const std::string& server = question.hello.server;
  const std::string objection = objection_to_start(parts, server);
  if (!objection.empty()) return answer(refusal(objection));
  const bool allowed = parts->pool.allow(server);
  answer(result(one_server_json(server, {}, Clock::now(), sessions_named(parts, server), allowed)));
}

void restart(const Parts& parts, Question& question, const Answer& answer) {
  const std::string& server = question.hello.server;
  const std::string objection = objection_to_start(parts, server);
  if (!objection.empty()) return answer(refusal(objection));
  parts->pool.allow(server);
  retire(parts, server, pool::Cause::Restarted, answer);
}

// ---- sessions

/// Why a process in a sandbox may not make this request to a daemon outside; empty if it may.
std::string objection_of_confinement(const Question& question) {
  const std::string confined =
      "this process is more confined than the daemon (" + question.confinement + "): ";
  if (!question.hello.commands.empty()) {
    return confined +
           "its commands would run outside the sandbox; name configured servers, or use `corral run`";
  }
  if (question.hello.owner != 0) {
    return confined + "its pids may belong to other processes here; give a time to live instead of an owner";
  }
  return {};
}

void create_session(const Parts& parts, Question& question, const Answer& answer) {
  control::Hello& hello = question.hello;
  const Confined creator = question.confinement.empty() ? Confined::No : Confined::Yes;
  if (creator == Confined::Yes) {
    const std::string objection = objection_of_confinement(question);
    if (!objection.empty()) return answer(refusal(objection));
    use_own_launch_context(hello);
  }
  auto environment = parts->definitions.keep(std::exchange(hello.environment, {}));
  const Result<const OwnedSession*> session = parts->owned.create(hello, std::move(environment), creator);
  if (!session) return answer(refusal(session.error().message));
  answer(result(wire::JsonObject()
                    .text("id", (*session)->id)
                    .raw("servers", wire::array_of_texts((*session)->servers))
                    .json()));
}

/// A connected session, by its number. False if there is none.
bool end_connected(const Parts& parts, const std::string& number,
                   const std::function<void(const SessionEvidence&)>& tell) {
  ConnectedSession* const found = parts->sessions.find(std::string_view(number));
  if (found == nullptr || found->session().ended()) return false;
  session::Session& session = found->session();
  const router::Router* const router = session.attachment().router();
  const Kept used{session.attachment().server(), router != nullptr ? router->instance()->id() : InstanceId(),
                  0};
  const auto ended = [weak = std::weak_ptr(parts), number, used, began = Clock::now(),
                      tell](const pool::InstanceEnd* end) {
    const Parts alive = weak.lock();
    if (!alive) return;
    SessionEvidence evidence;
    evidence.id = number;
    if (end != nullptr) {
      evidence.ended.push_back(*end);
    } else if (used.instance) {
      const std::size_t sessions = sessions_of(alive->pool, used.instance).value_or(0);
      evidence.kept.push_back({used.server, used.instance, sessions});
    }
    evidence.took = time_since(began);
    tell(evidence);
  };
  session.end(session::EndReason::SessionEnded, ended);
  return true;
}

void end_session(const Parts& parts, Question& question, const Answer& answer) {
  const std::string& id = question.hello.session;
  const auto tell = [answer](const SessionEvidence& evidence) { answer(result(daemon::to_json(evidence))); };
  if (parts->owned.end(id, by_process("ended", question), tell)) return;
  if (end_connected(parts, id, tell)) return;
  answer(refusal("no session is called '" + id +
                 "': it may have ended already; `corral session list` shows session objects, `corral status` "
                 "all sessions"));
}

// ---- the table

enum class While : std::uint8_t { Serving, Always };  // Serving: refused when the daemon is shutting down
enum class Version : std::uint8_t { Checked, Any };   // Checked: against "min_version"

struct Row {
  Verb verb;
  While when;
  Version version;
  void (*handle)(const Parts& parts, Question& question, const Answer& answer);
};

constexpr std::array kTable = {
    Row{Verb::Status, While::Always, Version::Checked, show_status},
    Row{Verb::Info, While::Always, Version::Checked, show_info},
    Row{Verb::Events, While::Always, Version::Checked, show_events},
    Row{Verb::Metrics, While::Always, Version::Checked, show_metrics},
    Row{Verb::SessionList, While::Always, Version::Checked, list_sessions},
    Row{Verb::Shutdown, While::Always, Version::Any, shut_down},
    Row{Verb::Reload, While::Serving, Version::Checked, reload},
    Row{Verb::Restart, While::Serving, Version::Checked, restart},
    Row{Verb::Stop, While::Serving, Version::Checked, stop},
    Row{Verb::Start, While::Serving, Version::Checked, start},
    Row{Verb::SessionCreate, While::Serving, Version::Checked, create_session},
    Row{Verb::SessionEnd, While::Serving, Version::Checked, end_session},
};

}  // namespace

void Verbs::answer(Question question, const Answer& answer) {
  const auto row = std::find_if(kTable.begin(), kTable.end(),
                                [&question](const Row& one) { return one.verb == question.hello.verb; });
  if (row == kTable.end()) return answer(refusal("unsupported request"));
  if (row->version == Version::Checked) {
    const std::string old = parts_->definitions.too_old(question.hello);
    if (!old.empty()) {
      parts_->session_records.refused({"", "version", old, question.peer});
      return answer(refusal(old));
    }
  }
  if (row->when == While::Serving && parts_->drain.begun()) {
    return answer(refusal(control::kShuttingDown));
  }
  row->handle(parts_, question, answer);
}

}  // namespace corral::daemon
