// How long a client waits until it can work: from the start of the shim to the list of tools, with a server
// that runs already. The yardstick for anything that starts a process is the start of /bin/true in the same
// run: a busy machine delays both.
#include <chrono>
#include <thread>

#include "measure.h"
#include "shared_server.h"
#include "stats.h"

namespace corral::bench {
namespace {

// The targets hold where /bin/true takes 0.7 ms; a slower or busier machine gets the same multiple of it.
constexpr double kTargetMs = 5;
constexpr double kReadyTargetMs = 30;
constexpr double kQuietTrueMs = 0.7;
constexpr std::chrono::milliseconds kRest{5};

enum What { kTrue, kTrueAgain, kVersion, kRaw, kIdeal, kCorral, kWhats };
constexpr const char* kNames[kWhats] = {"/bin/true, to its end",
                                        "/bin/true again",
                                        "corral --version, to its end",
                                        "raw: server start, initialize, tools/list",
                                        "ideal: connect, initialize, tools/list",
                                        "corral connect: start, initialize, tools/list"};

double run_to_end(const std::vector<std::string>& argv) {
  const Clock::time_point start = Clock::now();
  Child child(argv, {});
  child.wait();
  return ms_since(start);
}

template <typename Attach>
double open_once(Attach attach) {
  const Clock::time_point start = Clock::now();
  Link link = attach();
  link.open();
  const double ms = ms_since(start);
  link.close();
  return ms;
}

double once(const Bench& bench, What what, const Ideal& ideal, const Daemon& daemon) {
  std::this_thread::sleep_for(kRest);
  switch (what) {
    case kTrue:
    case kTrueAgain: return run_to_end({"/bin/true"});
    case kVersion: return run_to_end({bench.options.corral, "--version"});
    case kRaw: return open_once([&] { return attach_raw(bench, "raw"); });
    case kIdeal: return open_once([&] { return ideal.attach_socket("ideal"); });
    case kCorral: return open_once([&] { return daemon.attach("corral"); });
    case kWhats: break;
  }
  return 0;
}

Verdict judge_time(const Comparison& comparison, double target_ms) {
  if (comparison.value <= target_ms) return Verdict::Ok;
  return comparison.ratio <= target_ms / kQuietTrueMs ? Verdict::Noise : Verdict::Over;
}

Row row_of(const std::string& name, const std::vector<double>& times, const std::vector<double>& yardstick) {
  const Comparison comparison = compare(times, yardstick);
  Row row{{name}, {{"what", json(name)}}, Verdict::None};
  row.cells.insert(row.cells.end(),
                   {fixed(comparison.value, 2, "ms"), fixed(quantile(times, 0.1), 2, "ms"),
                    fixed(quantile(times, 0.9), 2, "ms"), fixed(comparison.ratio, 2) + " x", "-"});
  row.fields.insert(row.fields.end(), {{"value", json(comparison.value)},
                                       {"unit", json(std::string("ms"))},
                                       {"p10", json(quantile(times, 0.1))},
                                       {"p90", json(quantile(times, 0.9))},
                                       {"true_ratio", json(comparison.ratio)}});
  return row;
}

void set_target(Row& row, const Comparison& comparison, double target_ms) {
  row.cells.back() = "<= " + fixed(target_ms, 0, "ms");
  row.fields.emplace_back("target_ms", json(target_ms));
  row.verdict = judge_time(comparison, target_ms);
}

void add_daemon_start(const Bench& bench, Section& section) {
  std::vector<double> ready;
  std::vector<double> yardstick;
  for (int round = 0; round < bench.rounds(20, 5); ++round) {
    yardstick.push_back(run_to_end({"/bin/true"}));
    ready.push_back(Daemon(bench).ready_ms());
  }
  Row row = row_of("corral serve: start until READY=1", ready, yardstick);
  set_target(row, compare(ready, yardstick), kReadyTargetMs);
  section.rows.push_back(row);
}

}  // namespace

void measure_connect_attach(const Bench& bench, Results& results) {
  const TimeLimit limit(120);
  std::vector<double> times[kWhats];
  const int rounds = bench.rounds(60, 15);
  Section section;
  {
    const Ideal ideal(bench, Ideal::Sessions::Own);
    const Daemon daemon(bench);
    Link keeps_it_warm = daemon.attach("first");
    keeps_it_warm.open();
    for (int round = 0; round < rounds; ++round) {
      for (int turn = 0; turn < kWhats; ++turn) {
        const auto what = static_cast<What>((turn + round) % kWhats);
        times[what].push_back(once(bench, what, ideal, daemon));
      }
    }
    keeps_it_warm.close();
  }
  for (int what = 0; what < kWhats; ++what) {
    Row row = row_of(kNames[what], times[what], times[kTrue]);
    if (what == kCorral) set_target(row, compare(times[what], times[kTrue]), kTargetMs);
    section.rows.push_back(row);
  }
  add_daemon_start(bench, section);

  section.name = "connect-attach";
  section.title = "connect: from nothing to a list of tools, with the server running already";
  section.note = std::to_string(rounds) + " times each, alternating. A target in ms that is missed " +
                 "counts as noise while the ratio to\n/bin/true is what the target is on a quiet machine (" +
                 fixed(kQuietTrueMs, 2) + " ms for /bin/true).";
  section.headers = {"what", "median", "p10", "p90", "x /bin/true", "target"};
  results.add(std::move(section));
}

}  // namespace corral::bench
