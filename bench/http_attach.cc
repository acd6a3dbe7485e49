// From the moment when a client connects by URL to its list of tools; the server is shared and running.
#include "load_http.h"
#include "measure.h"
#include "shared_server.h"
#include "stats.h"

namespace corral::bench {
namespace {

constexpr double kTargetMs = 0.5;
// What the ideal takes for it on a quiet machine: a target that is missed while the ratio to it is the one of
// a quiet machine is the machine's.
constexpr double kQuietIdealMs = 0.2;

enum What { kIdeal, kIdealAgain, kLegacy, kModern, kWhats };
constexpr const char* kNames[kWhats] = {"ideal: connect, initialize, tools/list", "ideal again",
                                        "corral: connect, initialize, tools/list",
                                        "corral, 2026-07-28: connect, tools/list"};

double once(What what, const Ideal& ideal, const Daemon& daemon) {
  const Clock::time_point start = Clock::now();
  HttpClient client = what == kIdeal || what == kIdealAgain ? ideal.attach_http("ideal")
                                                            : daemon.attach_http("corral", what == kModern);
  client.open();
  return ms_since(start);
}

Row row_of(int what, const std::vector<double>& times, const std::vector<double>& ideal) {
  const Comparison comparison = compare(times, ideal);
  Row row;
  row.cells = {kNames[what],
               fixed(comparison.value, 3, "ms"),
               fixed(quantile(times, 0.1), 3, "ms"),
               fixed(quantile(times, 0.9), 3, "ms"),
               fixed(comparison.ratio, 2) + " x",
               "-"};
  row.fields = {{"what", json(std::string(kNames[what]))}, {"value", json(comparison.value)},
                {"unit", json(std::string("ms"))},         {"p10", json(quantile(times, 0.1))},
                {"p90", json(quantile(times, 0.9))},       {"ideal_ratio", json(comparison.ratio)}};
  if (what == kLegacy) {
    row.cells.back() = "<= " + fixed(kTargetMs, 1, "ms");
    row.fields.emplace_back("target_ms", json(kTargetMs));
    const bool quiet_ratio = comparison.ratio <= kTargetMs / kQuietIdealMs;
    row.verdict = comparison.value <= kTargetMs ? Verdict::Ok : quiet_ratio ? Verdict::Noise : Verdict::Over;
  }
  return row;
}

}  // namespace

void measure_http_attach(const Bench& bench, Results& results) {
  const TimeLimit limit(120);
  std::vector<double> times[kWhats];
  const Ideal ideal(bench, Ideal::Sessions::Own, free_port());
  const Daemon daemon(bench, kSharedServer, {}, free_port());
  HttpClient keeps_it_warm = daemon.attach_http("first");
  keeps_it_warm.open();
  keeps_it_warm.echo(100);
  for (int round = 0; round < bench.rounds(300, 60); ++round) {
    for (int turn = 0; turn < kWhats; ++turn) {
      const auto what = static_cast<What>((turn + round) % kWhats);
      times[what].push_back(once(what, ideal, daemon));
    }
  }
  Section section;
  section.name = "http-attach";
  section.title = "HTTP: from the connect to the list of tools, the server is shared and runs";
  section.note =
      "A new connection each time; the peer's owner is looked up at its accept. The ideal knows neither\n"
      "sessions nor access.";
  section.headers = {"what", "median", "p10", "p90", "x ideal", "target"};
  for (int what = 0; what < kWhats; ++what) {
    section.rows.push_back(row_of(what, times[what], times[kIdeal]));
  }
  results.add(std::move(section));
}

}  // namespace corral::bench
