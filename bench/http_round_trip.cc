// One client that connects by URL, one small question after the other, on a connection that stays. The ideal
// forwarder takes POSTs too and is the least that this can cost.
#include "load_http.h"
#include "measure.h"
#include "one_core.h"
#include "shared_server.h"
#include "stats.h"

namespace corral::bench {
namespace {

constexpr double kTarget = 1.3;  // times the ideal over HTTP
constexpr std::size_t kBytes = 100;
constexpr int kWarmUp = 200;
constexpr int kBatches = 12;
constexpr int kPerBatch = 100;

enum Way { kRaw, kIdeal, kIdealAgain, kLegacy, kModern, kWays };
constexpr const char* kNames[kWays] = {"raw pipe", "ideal, HTTP", "ideal again", "corral, 2025-06-18",
                                       "corral, 2026-07-28"};

struct Series {
  std::vector<double> p50[kWays];  // one entry per round
  std::vector<double> p10[kWays];
};

void one_round(const Bench& bench, int round, Series& series) {
  const TimeLimit limit(60);
  const Ideal ideal(bench, Ideal::Sessions::Own, free_port());
  const Daemon daemon(bench, kSharedServer, {}, free_port());
  Link raw = attach_raw(bench, kNames[kRaw]);
  std::vector<HttpClient> clients;
  clients.push_back(ideal.attach_http(kNames[kIdeal]));
  clients.push_back(ideal.attach_http(kNames[kIdealAgain]));
  clients.push_back(daemon.attach_http(kNames[kLegacy]));
  clients.push_back(daemon.attach_http(kNames[kModern], true));
  raw.open();
  for (HttpClient& client : clients) client.open();
  std::vector<double> times[kWays];
  const auto ask = [&](int way) {
    return way == kRaw ? raw.echo(kBytes) : clients[static_cast<std::size_t>(way) - 1].echo(kBytes);
  };
  for (int way = 0; way < kWays; ++way) {
    for (int i = 0; i < kWarmUp; ++i) ask(way);
  }
  for (int batch = 0; batch < kBatches; ++batch) {
    for (int turn = 0; turn < kWays; ++turn) {
      const int way = (turn + round) % kWays;
      for (int i = 0; i < kPerBatch; ++i) times[way].push_back(ask(way));
    }
  }
  for (int way = 0; way < kWays; ++way) {
    series.p50[way].push_back(quantile(times[way], 0.5));
    series.p10[way].push_back(quantile(times[way], 0.1));
  }
}

void add_rows(Section& section, const std::vector<double> (&series)[kWays], const std::string& statistic,
              bool one_core) {
  const double floor = noise_floor(ratios(series[kIdealAgain], series[kIdeal]));
  for (int way = 0; way < kWays; ++way) {
    const Comparison raw = compare(series[way], series[kRaw]);
    const Comparison ideal = compare(series[way], series[kIdeal]);
    Row row;
    row.cells = {statistic + ", " + kNames[way],
                 fixed(raw.value, 2, "us"),
                 fixed(raw.ratio, 2) + " x",
                 fixed(ideal.ratio, 2) + " x",
                 fixed(ideal.low, 2) + "-" + fixed(ideal.high, 2),
                 "-"};
    row.fields = {{"statistic", json(statistic)},
                  {"one_core", one_core ? "true" : "false"},
                  {"variant", json(std::string(kNames[way]))},
                  {"value", json(raw.value)},
                  {"unit", json(std::string("us"))},
                  {"raw_ratio", json(raw.ratio)},
                  {"ideal_ratio", json(ideal.ratio)},
                  {"ideal_ratio_p25", json(ideal.low)},
                  {"ideal_ratio_p75", json(ideal.high)}};
    if (way == kIdealAgain) row.cells.back() = "noise " + fixed(floor, 2);
    if (way == kLegacy && one_core) {
      row.cells.back() = "<= " + fixed(kTarget, 1) + " x ideal";
      row.fields.emplace_back("target_ideal_ratio", json(kTarget));
      row.verdict = judge_ratio(ideal, kTarget, floor);
    }
    section.rows.push_back(row);
  }
}

}  // namespace

void measure_http_round_trip(const Bench& bench, Results& results, bool one_core) {
  const OneCore pin(one_core);
  Series series;
  const int rounds = bench.rounds(15, 5);
  for (int round = 0; round < rounds; ++round) one_round(bench, round, series);

  Section section;
  section.name = "http-round-trip";
  section.title = std::string("HTTP: round trip of a small message, ") +
                  (one_core ? "everything on one core" : "scheduled as the kernel likes");
  section.note =
      std::to_string(rounds) + " rounds, everything started again in each; " + std::to_string(kBatches) +
      " x " + std::to_string(kPerBatch) +
      " requests per way, alternating, each answer checked.\n"
      "The server knows the older revisions only: in the last row each call is put into other words and\n"
      "its headers are compared with its body. Judged on one core, against the ideal over HTTP.";
  section.headers = {"way", "median", "x raw", "x ideal", "middle half", "target"};
  add_rows(section, series.p50, "p50", one_core);
  add_rows(section, series.p10, "p10", one_core);
  results.add(std::move(section));
}

}  // namespace corral::bench
