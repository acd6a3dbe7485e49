// What can be asked of the daemon besides a server: one question, one reply.
#include <compare>

#include "base/version_order.h"
#include "daemon/evidence.h"
#include "daemon/hub_impl.h"
#include "version.h"
#include "wire/json_text.h"

namespace corral::daemon {
namespace {

using control::Reply;
using control::Verb;
using transport::Answer;
using transport::Question;

Reply refusal(const std::string& why) { return Reply{Reply::Kind::Refused, why, kRefused, 0, 0, ""}; }
Reply result(std::string json) { return Reply{Reply::Kind::Result, std::move(json), 0, 0, 0, ""}; }

std::string to_json(const Reloaded& reloaded) {
  return R"({"changed":)" + names_json(reloaded.changed) + R"(,"added":)" + names_json(reloaded.added) +
         R"(,"removed":)" + names_json(reloaded.removed) + R"(,"ended":)" + std::to_string(reloaded.ended) +
         R"(,"warnings":)" + names_json(reloaded.warnings) + "}";
}

std::string one_server_json(const std::string& server, const std::vector<pool::InstanceEnd>& gone,
                            Clock::time_point since, const std::string& more = "") {
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - since);
  return R"({"server":)" + wire::quoted(server) + more + R"(,"ended":)" + gone_json(gone) + R"(,"ms":)" +
         std::to_string(took.count()) + "}";
}

/// Changes nothing, and is answered also while we leave.
bool looks_only(Verb verb) {
  return verb == Verb::Status || verb == Verb::Info || verb == Verb::Events || verb == Verb::Metrics;
}

std::string number_of(std::size_t number, const std::string& noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

std::string by_process(const char* what, const Question& question) {
  return std::string(what) + " by process " + std::to_string(question.peer);
}

}  // namespace

void Hub::answer(Question question, Answer answer) {
  const Verb verb = question.hello.verb;
  if (const std::string old = impl_->too_old(question.hello); !old.empty() && verb != Verb::Shutdown) {
    impl_->tell_refused("", "version", old, question.peer);
    return answer(refusal(old));
  }
  if (looks_only(verb)) return impl_->show(question.hello, answer);
  if (verb == Verb::Shutdown) return shut_down(by_process("corral shutdown", question), answer);
  if (impl_->draining && verb != Verb::SessionList) return answer(refusal("the daemon is shutting down"));
  switch (verb) {
    case Verb::Reload:
      return reload(by_process("corral reload", question), [answer](const Result<Reloaded>& reloaded) {
        answer(reloaded ? result(to_json(*reloaded)) : refusal(reloaded.error().message));
      });
    case Verb::Restart:
    case Verb::Stop:
    case Verb::Start: return impl_->handle_server(question, answer);
    case Verb::SessionCreate: return impl_->create_session(question, answer);
    case Verb::SessionEnd: return impl_->end_session(question, answer);
    case Verb::SessionList: return answer(result(R"({"sessions":)" + impl_->owned.list_json() + "}"));
    case Verb::Connect:
    case Verb::Status:
    case Verb::Info:
    case Verb::Events:
    case Verb::Metrics:
    case Verb::Shutdown: break;  // see above
  }
  answer(refusal("this is no question"));
}

void Hub::shut_down(const std::string& why, const Answer& answer) {
  const bool first = !impl_->draining;
  drain([answer](Ended ended) {
    answer(Reply{
        Reply::Kind::Exit,
        "ended " + number_of(ended.sessions, "session") + " and " + number_of(ended.instances, "instance"), 0,
        0, 0, ""});
  });
  if (impl_->asked_to_stop) impl_->asked_to_stop(why);
  if (first) impl_->insisted = false;  // the service drains as well, but nobody has asked twice
}

/// A program that is older than the configuration allows; empty if it is not.
std::string Hub::Impl::too_old(const control::Hello& hello) const {
  const std::string& least = configuration.options.min_version;
  if (least.empty()) return {};
  const auto order = compare_versions(hello.version, least);
  if (order && std::is_gteq(*order)) return {};
  // The daemon may be too old itself, and then its own corral would be refused as well.
  const auto own = compare_versions(kVersion, least);
  const std::string next =
      own && std::is_gteq(*own)
          ? std::string("use the corral that the daemon runs (") + kVersion + ")"
          : "update corral, or lower \"min_version\" and end the daemon with `corral shutdown`";
  return "a corral of version " + (hello.version.empty() ? "unknown" : hello.version) +
         " may not speak to this daemon: \"min_version\" in " + configuration.file + " asks for " + least +
         " or later; " + next;
}

void Hub::Impl::show(const control::Hello& hello, const Answer& answer) {
  const auto status = [answer](const observe::Snapshot& shot) {
    answer(Reply{Reply::Kind::Status, observe::status_json(shot), 0, 0, 0, ""});
  };
  switch (hello.verb) {
    case Verb::Info:
      return measured_snapshot(
          [answer](const observe::Snapshot& shot) { answer(result(observe::info_json(shot))); });
    case Verb::Events:
      return records.reader().read({hello.after, hello.limit, hello.wait},
                                     [answer](const std::string& json) { answer(result(json)); });
    case Verb::Metrics:
      return measured_snapshot([this, answer](const observe::Snapshot& shot) {
        answer(result(R"({"text":)" + wire::quoted(records.metrics().text(shot)) + "}"));
      });
    default: break;
  }
  if (hello.measure) return measured_snapshot(status);
  status(snapshot(nullptr));
}

void Hub::Impl::handle_server(const Question& question, const Answer& answer) {
  const std::string& name = question.hello.server;
  const config::Server* entry = configuration.find(name);
  if (entry == nullptr) return answer(refusal(no_such_server(name, configuration).message));
  const Clock::time_point now = Clock::now();
  const auto tell = [name, now, answer](const std::vector<pool::InstanceEnd>& gone) {
    answer(result(one_server_json(name, gone, now)));
  };
  if (question.hello.verb == Verb::Stop && entry->built_in) {
    return answer(
        refusal("server " + name +
                " is the control server, and starts whenever somebody asks for it: `corral shutdown` "
                "ends the daemon"));
  }
  if (question.hello.verb == Verb::Stop) {
    pool.retire(name, pool::Cause::Stopped, tell);
    return;
  }
  if (entry->disabled) return answer(refusal("server " + name + " is disabled in " + configuration.file));
  const bool allowed = pool.allow(name);
  if (question.hello.verb == Verb::Restart) {
    pool.retire(name, pool::Cause::Restarted, tell);
  } else {
    answer(
        result(one_server_json(name, {}, now, std::string(R"(,"allowed":)") + (allowed ? "true" : "false"))));
  }
}

void Hub::Impl::create_session(Question& question, const Answer& answer) {
  control::Hello& hello = question.hello;
  if (!question.confinement.empty()) {
    const std::string confined =
        "this process is more confined than the daemon (" + question.confinement + "): ";
    if (!hello.commands.empty()) {
      return answer(refusal(confined + "its commands would run outside of its confinement; name configured "
                                       "servers, or use `corral run`"));
    }
    if (hello.owner != 0) {
      return answer(refusal(confined + "its process numbers may mean others here; give a time to live "
                                       "instead of an owner"));
    }
    forget_premises(hello);
  }
  auto environment = environments.keep(std::exchange(hello.environment, {}));
  const Result<const OwnedSession*> session =
      owned.create(hello, std::move(environment), !question.confinement.empty());
  if (!session) return answer(refusal(session.error().message));
  answer(result(R"({"id":)" + wire::quoted((*session)->id) + R"(,"servers":)" +
                names_json((*session)->servers) + "}"));
}

void Hub::Impl::end_session(const Question& question, const Answer& answer) {
  const std::string& id = question.hello.session;
  const auto tell = [answer](const SessionEvidence& evidence) { answer(result(daemon::to_json(evidence))); };
  if (owned.end(id, by_process("ended", question), tell) || end_guest(id, tell)) return;
  answer(refusal("no session is called '" + id +
                 "': it may have ended already; `corral session list` shows session objects, `corral status` "
                 "all sessions"));
}

}  // namespace corral::daemon
