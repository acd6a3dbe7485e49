// What it costs to have a hundred clients that stay attached and say nothing: their servers have been ended,
// and the daemon waits. Beside it, over the same seconds, a daemon that nobody has ever spoken to.
#include <chrono>
#include <stdexcept>
#include <thread>

#include "measure.h"
#include "proc_scan.h"
#include "shared_server.h"
#include "stats.h"

namespace corral::bench {
namespace {

constexpr std::size_t kSessions = 100;
constexpr double kCpuTarget = 1;     // ms a second
constexpr double kWakeUpTarget = 1;  // a second
constexpr double kSessionTargetKb = 12;
constexpr std::chrono::seconds kPatience{30};
constexpr const char* kParking = R"("share":"session","park":true,"idle":"5s")";

struct Look {
  double cpu = 0;
  double wake_ups = 0;
};

Look look_at(pid_t pid) { return {cpu_ms(pid), wake_ups_of(pid)}; }

struct Idle {
  Look each_second;
  Memory memory;
};

Idle since(const Look& before, double seconds, pid_t pid) {
  const Look now = look_at(pid);
  return {{(now.cpu - before.cpu) / seconds, (now.wake_ups - before.wake_ups) / seconds}, memory_of(pid)};
}

/// A hundred more. Returns when no server runs any longer.
void park_sessions(const Daemon& daemon, std::vector<Link>& links) {
  for (std::size_t i = 0; i < kSessions; ++i) {
    links.push_back(daemon.attach("p" + std::to_string(links.size())));
    links.back().open();
    links.back().echo(100);
  }
  const Clock::time_point deadline = Clock::now() + kPatience;
  while (!descendants(daemon.pid()).empty()) {
    if (Clock::now() > deadline) throw std::runtime_error("not every silent session was parked");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

Row row_of(const std::string& process, std::size_t sessions, const Idle& idle) {
  Row row;
  row.cells = {process,
               std::to_string(sessions),
               fixed(idle.each_second.cpu, 3, "ms"),
               fixed(idle.each_second.wake_ups, 2),
               fixed(idle.memory.pss_mb, 2, "MB"),
               "",
               "-"};
  row.fields = {{"process", json(process)},
                {"sessions", json(static_cast<double>(sessions))},
                {"cpu_ms_per_second", json(idle.each_second.cpu)},
                {"wake_ups_per_second", json(idle.each_second.wake_ups)},
                {"pss_mb", json(idle.memory.pss_mb)}};
  return row;
}

Row parked_row(const Idle& parked, const Memory& twice_as_many) {
  Row row = row_of("daemon, all parked", kSessions, parked);
  const double each = (twice_as_many.anonymous_mb - parked.memory.anonymous_mb) * 1e3 / double{kSessions};
  row.cells[5] = fixed(each, 1, "KB");
  row.cells[6] = "<= " + fixed(kCpuTarget, 0) + " ms/s, " + fixed(kWakeUpTarget, 0) + "/s, " +
                 fixed(kSessionTargetKb, 0) + " KB";
  row.fields.insert(row.fields.end(), {{"kb_per_session", json(each)},
                                       {"target_cpu_ms_per_second", json(kCpuTarget)},
                                       {"target_wake_ups_per_second", json(kWakeUpTarget)},
                                       {"target_kb_per_session", json(kSessionTargetKb)}});
  const bool within = parked.each_second.cpu <= kCpuTarget && parked.each_second.wake_ups <= kWakeUpTarget &&
                      each <= kSessionTargetKb;
  row.verdict = within ? Verdict::Ok : Verdict::Over;
  return row;
}

}  // namespace

void measure_connect_parked(const Bench& bench, Results& results) {
  const TimeLimit limit(180);
  const Daemon alone(bench);
  const Daemon daemon(bench, kParking);
  std::vector<Link> links;
  park_sessions(daemon, links);

  const Look alone_before = look_at(alone.pid());
  const Look daemon_before = look_at(daemon.pid());
  const Look shim_before = look_at(links.front().pid());
  const int seconds = bench.rounds(20, 4);
  std::this_thread::sleep_for(std::chrono::seconds(seconds));
  const Idle parked = since(daemon_before, seconds, daemon.pid());
  const Idle nobody = since(alone_before, seconds, alone.pid());
  const Idle shim = since(shim_before, seconds, links.front().pid());
  if (!descendants(daemon.pid()).empty()) throw std::runtime_error("a parked session woke by itself");
  park_sessions(daemon, links);
  const Memory twice_as_many = memory_of(daemon.pid());
  for (Link& link : links) link.close();

  Section section;
  section.name = "connect-parked";
  section.title = "connect: an idle daemon with " + std::to_string(kSessions) + " parked sessions";
  section.rows = {row_of("daemon without sessions", 0, nobody), parked_row(parked, twice_as_many),
                  row_of("one of the shims", 1, shim)};
  section.note =
      "Over " + std::to_string(seconds) +
      " s in which nobody says anything. Each session had a private server, which was ended after\n"
      "5 s of silence; no server and no keeper runs. A wake-up is a voluntary context switch. The price of\n"
      "a session is what a second hundred adds to the anonymous memory: the first also pays for the\n"
      "hundred servers that ran at once. KB is 1,000 bytes.";
  section.headers = {"process", "sessions", "CPU / s", "wake-ups / s", "PSS", "per session", "target"};
  results.add(std::move(section));
}

}  // namespace corral::bench
