// How long a client waits for a server that is not there: one that has just been killed, and one that was
// ended because its session was silent. The yardstick is what the same server costs a new client in the same
// run, from nothing to its first answer.
#include <signal.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "measure.h"
#include "proc_scan.h"
#include "shared_server.h"
#include "stats.h"

namespace corral::bench {
namespace {

constexpr std::size_t kBytes = 100;
constexpr std::chrono::seconds kPatience{15};
constexpr const char* kPrivate = R"("share":"session")";
constexpr const char* kParking = R"("share":"session","park":true,"idle":"300ms")";

/// A ratio: the same tree is started in both, and the dead one has to be proved gone before.
constexpr double kCrashTarget = 1.5;
constexpr double kParkedTarget = 1.5;

void wait_for_servers(const Daemon& daemon, std::size_t count) {
  const Clock::time_point deadline = Clock::now() + kPatience;
  while (daemon.servers().size() != count) {
    if (Clock::now() > deadline) {
      throw std::runtime_error("the daemon has " + std::to_string(daemon.servers().size()) +
                               " servers, not " + std::to_string(count));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

struct Times {
  std::vector<double> raw;
  std::vector<double> cold;
  std::vector<double> crash;
  std::vector<double> parked;
  int errors = 0;  // that clients got instead of an answer, in all
};

double raw_start(const Bench& bench) {
  const Clock::time_point start = Clock::now();
  Link link = attach_raw(bench, "raw");
  link.open();
  link.echo(kBytes);
  const double ms = ms_since(start);
  link.close();
  return ms;
}

/// A session of its own each time, so that no death counts against the next server. It begins with a cold
/// start.
void kill_one(const Daemon& daemon, Times& times) {
  wait_for_servers(daemon, 0);
  const Clock::time_point start = Clock::now();
  Link link = daemon.attach("crash");
  link.open();
  link.echo(kBytes);
  times.cold.push_back(ms_since(start));
  const std::vector<pid_t> servers = daemon.servers();
  if (servers.size() != 1) throw std::runtime_error("a private session has not exactly one server");
  const Clock::time_point death = Clock::now();
  kill(servers.front(), SIGKILL);
  const Link::Persistence answer = link.echo_until_right(kBytes);
  times.crash.push_back(ms_since(death));
  times.errors += answer.errors;
  link.close();
}

void wake_one(const Daemon& daemon, Times& times) {
  Link link = daemon.attach("parked");
  link.open();
  link.echo(kBytes);
  wait_for_servers(daemon, 0);
  const Link::Persistence answer = link.echo_until_right(kBytes);
  times.parked.push_back(answer.ms);
  times.errors += answer.errors;
  link.close();
  wait_for_servers(daemon, 0);
}

Row row_of(const std::string& what, const std::vector<double>& times, const Times& all, double target) {
  const Comparison comparison = compare(times, all.cold);
  Row row{{what}, {{"what", json(what)}}, Verdict::None};
  row.cells.insert(row.cells.end(), {fixed(comparison.value, 2, "ms"), fixed(quantile(times, 0.1), 2, "ms"),
                                     fixed(quantile(times, 0.9), 2, "ms"), fixed(comparison.ratio, 2) + " x",
                                     target > 0 ? "<= " + fixed(target, 1) + " x" : "-"});
  row.fields.insert(row.fields.end(), {{"value", json(comparison.value)},
                                       {"unit", json(std::string("ms"))},
                                       {"p10", json(quantile(times, 0.1))},
                                       {"p90", json(quantile(times, 0.9))},
                                       {"cold_ratio", json(comparison.ratio)},
                                       {"samples", json(static_cast<double>(times.size()))}});
  if (target > 0) {
    row.fields.emplace_back("target_ratio", json(target));
    // What the cold starts of this run differ among themselves is what it cannot tell apart.
    const double noise = (quantile(all.cold, 0.75) - quantile(all.cold, 0.25)) / median(all.cold);
    row.verdict = judge_ratio(comparison, target, noise);
  }
  return row;
}

}  // namespace

void measure_connect_restart(const Bench& bench, Results& results) {
  const TimeLimit limit(180);
  Times times;
  const Daemon crashing(bench, kPrivate);
  const Daemon parking(bench, kParking);
  const int rounds = bench.rounds(40, 10);
  for (int round = 0; round < rounds; ++round) {
    times.raw.push_back(raw_start(bench));
    kill_one(crashing, times);
    wake_one(parking, times);
  }

  Section section;
  section.name = "connect-restart";
  section.title = "connect: from a server that is gone to the next answer";
  section.rows = {row_of("raw: start of the server to its first answer", times.raw, times, 0),
                  row_of("cold: start of the shim to the first answer", times.cold, times, 0),
                  row_of("crash: SIGKILL to the next answer", times.crash, times, kCrashTarget),
                  row_of("parked: call to its answer", times.parked, times, kParkedTarget)};
  section.note = std::to_string(rounds) + " times each, alternating; a private server. " +
                 std::to_string(times.errors) +
                 " calls were answered with an error,\nbecause they were in flight when the server died, " +
                 "and were asked again.";
  section.headers = {"what", "median", "p10", "p90", "x cold", "target"};
  results.add(std::move(section));
}

}  // namespace corral::bench
