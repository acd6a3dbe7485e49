#include "keeper/report.h"

#include <sys/wait.h>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "keeper/patient_write.h"
#include "version.h"

namespace corral::keeper {
namespace {

/// Builds one line of JSON in place, because the helper must not allocate.
class JsonLine {
 public:
  void clear() {
    used_ = 0;
    overflowed_ = false;
  }

  void raw(const char* text) {
    const std::size_t length = strlen(text);
    if (used_ + length > sizeof bytes_) {
      overflowed_ = true;
      return;
    }
    memcpy(bytes_ + used_, text, length);
    used_ += length;
  }

  /// A process chooses its own name, so everything except plain ASCII is escaped.
  void string(const char* text) {
    raw("\"");
    for (const char* at = text; *at != '\0'; ++at) {
      const auto byte = static_cast<unsigned char>(*at);
      char escaped[8];
      if (byte == '"' || byte == '\\') {
        snprintf(escaped, sizeof escaped, "\\%c", byte);
      } else if (byte < 0x20 || byte >= 0x7f) {
        snprintf(escaped, sizeof escaped, "\\u%04x", byte);
      } else {
        snprintf(escaped, sizeof escaped, "%c", byte);
      }
      raw(escaped);
    }
    raw("\"");
  }

  void integer(std::uint64_t value) {
    char text[24];
    snprintf(text, sizeof text, "%llu", static_cast<unsigned long long>(value));
    raw(text);
  }

  /// `value` thousandths as a decimal number.
  void thousandths(std::uint64_t value) {
    char text[32];
    snprintf(text, sizeof text, "%llu.%03u", static_cast<unsigned long long>(value / 1000),
             static_cast<unsigned>(value % 1000));
    raw(text);
  }

  void signal(int signo) {
    if (signo == 0) return raw("null");
    const char* name = sigabbrev_np(signo);
    raw("\"SIG");
    raw(name != nullptr ? name : "RT");
    raw("\"");
  }

  bool flush(int fd) const { return !overflowed_ && write_without_hanging(fd, bytes_, used_); }

 private:
  std::size_t used_ = 0;
  bool overflowed_ = false;
  char bytes_[256 * 1024];  // room for a full list with every byte of every name escaped
};

const char* boolean(bool value) { return value ? "true" : "false"; }

const char* limit_name(LimitName name) {
  switch (name) {
    case LimitName::Memory: return "memory";
    case LimitName::Pids: return "pids";
    case LimitName::Cpu: break;
  }
  return "cpu";
}

const char* enforcer_name(Enforcer by) {
  switch (by) {
    case Enforcer::Cgroup: return "cgroup";
    case Enforcer::Watchdog: return "watchdog";
    case Enforcer::None: break;
  }
  return "none";
}

void put_exit(JsonLine& json, const Report& report) {
  const bool known = report.server_status_known;
  const int status = report.server_status;
  json.raw("{\"code\":");
  if (known && WIFEXITED(status)) {
    json.integer(static_cast<std::uint64_t>(WEXITSTATUS(status)));
  } else {
    json.raw("null");
  }
  json.raw(",\"signal\":");
  json.signal(known && WIFSIGNALED(status) ? WTERMSIG(status) : 0);
  json.raw("}");
}

void put_survivors(JsonLine& json, const Report& report) {
  json.raw(",\"survivors\":[");
  for (std::uint32_t i = 0; i < report.survivors; ++i) {
    const Survivor& survivor = report.survivor[i];
    json.raw(i == 0 ? "{\"pid\":" : ",{\"pid\":");
    json.integer(static_cast<std::uint64_t>(survivor.pid));
    json.raw(",\"comm\":");
    json.string(survivor.comm);
    json.raw(",\"uid\":");
    json.integer(survivor.uid);
    json.raw(",\"cause\":");
    json.string(cause_name(survivor.cause));
    json.raw("}");
  }
  json.raw("],\"leaked\":");
  json.raw(boolean(!report.proved_empty));
}

void put_ended(JsonLine& json, const Report& report) {
  json.raw(",\"ended\":[");
  for (std::uint32_t i = 0; i < report.ended_listed; ++i) {
    json.raw(i == 0 ? "{\"pid\":" : ",{\"pid\":");
    json.integer(static_cast<std::uint64_t>(report.ended[i].pid));
    json.raw(",\"comm\":");
    json.string(report.ended[i].comm);
    json.raw(",\"signal\":");
    json.signal(report.ended[i].signal);
    json.raw("}");
  }
  json.raw("],\"ended_total\":");
  json.integer(report.ended_total);
  json.raw(",\"signals\":{\"SIGTERM\":");
  json.integer(report.sigterm_deaths);
  json.raw(",\"SIGKILL\":");
  json.integer(report.sigkill_deaths);
  json.raw("}");
}

void put_limits(JsonLine& json, const Report& report) {
  json.raw(",\"limits\":[");
  for (std::uint32_t i = 0; i < report.limits; ++i) {
    const LimitState& limit = report.limit[i];
    json.raw(i == 0 ? "{\"name\":" : ",{\"name\":");
    json.string(limit_name(limit.name));
    json.raw(",\"limit\":");
    limit.name == LimitName::Cpu ? json.thousandths(limit.limit) : json.integer(limit.limit);
    json.raw(",\"by\":");
    json.string(enforcer_name(limit.by));
    json.raw(",\"exceeded\":");
    json.raw(boolean(limit.exceeded));
    json.raw(",\"seen\":");
    limit.seen == 0 ? json.raw("null") : json.integer(limit.seen);
    json.raw("}");
  }
  json.raw("]");
}

void put_terminators(JsonLine& json, const Report& report) {
  json.raw(",\"terminators\":[");
  for (std::uint32_t i = 0; i < report.terminators; ++i) {
    const TerminatorResult& result = report.terminator[i];
    json.raw(i == 0 ? "{\"kind\":" : ",{\"kind\":");
    json.string(result.kind == TerminatorKind::OnStop ? "on-stop" : "container");
    json.raw(",\"exit\":");
    if (result.finished && WIFEXITED(result.wait_status)) {
      json.integer(static_cast<std::uint64_t>(WEXITSTATUS(result.wait_status)));
    } else {
      json.raw("null");
    }
    json.raw(",\"ms\":");
    json.thousandths(static_cast<std::uint64_t>(result.took.count()));
    json.raw("}");
  }
  json.raw("]");
}

void count_signal(Report& report, int signal, int by) {
  if (signal == SIGTERM) report.sigterm_deaths += static_cast<std::uint32_t>(by);
  if (signal == SIGKILL) report.sigkill_deaths += static_cast<std::uint32_t>(by);
}

}  // namespace

const char* cause_name(Cause cause) {
  switch (cause) {
    case Cause::Permission: return "permission";
    case Cause::Uninterruptible: return "uninterruptible";
    case Cause::Unknown: break;
  }
  return "unknown";
}

const char* reason_name(Reason reason) {
  switch (reason) {
    case Reason::NotStarted: return "not-started";
    case Reason::StdinClosed: return "stdin-closed";
    case Reason::StdoutClosed: return "stdout-closed";
    case Reason::ClientGone: return "client-gone";
    case Reason::Signal: return "signal";
    case Reason::ServerExited: return "server-exited";
    case Reason::OwnerGone: return "owner-gone";
    case Reason::Watchdog: return "watchdog";
    case Reason::KeeperLost: return "keeper-lost";
    case Reason::ClientExited: break;
  }
  return "client-exited";
}

const char* level_name(Level level) {
  if (level.guard) return "guard";
  if (level.pid_namespace) return level.cgroup ? "pidns+cgroup" : "pidns";
  return level.cgroup ? "keeper+cgroup" : "keeper";
}

void record_ended(Report& report, pid_t pid, const char* comm, int signal) {
  for (std::uint32_t i = 0; i < report.ended_listed; ++i) {
    if (report.ended[i].pid != pid) continue;
    count_signal(report, report.ended[i].signal, -1);
    count_signal(report, signal, +1);
    report.ended[i].signal = signal;
    return;
  }
  ++report.ended_total;
  count_signal(report, signal, +1);
  if (report.ended_listed == kListedProcesses) return;
  EndedProcess& entry = report.ended[report.ended_listed++];
  entry.pid = pid;
  entry.signal = signal;
  snprintf(entry.comm, sizeof entry.comm, "%s", comm);
}

bool write_report(int fd, const Report& report) {
  static JsonLine json;  // too large for the stack
  json.clear();
  json.raw("{\"schema\":1,\"version\":");
  json.string(kVersion);
  json.raw(",\"instance\":");
  json.string(report.instance);
  json.raw(",\"reason\":");
  json.string(reason_name(report.reason));
  json.raw(",\"exit\":");
  put_exit(json, report);
  put_survivors(json, report);
  put_ended(json, report);
  if (report.level.guard) {
    json.raw(",\"kept\":");
    json.integer(report.kept);
  }
  json.raw(",\"ms\":");
  json.thousandths(static_cast<std::uint64_t>(report.end_took.count()));
  json.raw(",\"uptime_ms\":");
  json.thousandths(static_cast<std::uint64_t>(report.uptime.count()));
  json.raw(",\"level\":");
  json.string(level_name(report.level));
  json.raw(",\"proof\":");
  json.string(report.proved_empty ? "echild" : "none");
  put_limits(json, report);
  put_terminators(json, report);
  json.raw("}\n");
  return json.flush(fd);
}

}  // namespace corral::keeper
