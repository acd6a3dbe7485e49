// One client, one small question after the other: what the daemon between them adds. The ideal forwarder is
// the least that sharing can cost, so the budget is a multiple of it. Raw pipes and the ideal have two rows
// more than they need: the same thing twice is the noise, and the ideal without sessions of its own shows
// what the kernel charges for those (see measure_round_trip.cc).
#include "measure.h"
#include "one_core.h"
#include "shared_server.h"
#include "stats.h"

namespace corral::bench {
namespace {

constexpr double kTarget = 1.3;  // times the ideal over a unix socket
constexpr std::size_t kBytes = 100;
constexpr int kWarmUp = 200;
constexpr int kBatches = 12;
constexpr int kPerBatch = 100;

enum Way { kRaw, kIdeal, kIdealAgain, kIdealPipes, kIdealSameSession, kCorral, kWays };
constexpr const char* kNames[kWays] = {"raw pipe",           "ideal, unix socket",
                                       "ideal again",        "ideal, pipes handed over",
                                       "ideal, one session", "corral connect"};

struct Series {
  std::vector<double> p50[kWays];  // one entry per round
  std::vector<double> p10[kWays];
};

// Everything is fresh in each round, because where the kernel puts a process stays with it.
void one_round(const Bench& bench, int round, Series& series) {
  const TimeLimit limit(60);
  const Ideal ideal(bench, Ideal::Sessions::Own);
  const Ideal same(bench, Ideal::Sessions::Same);
  const Daemon daemon(bench);
  std::vector<Link> links;
  links.push_back(attach_raw(bench, kNames[kRaw]));
  links.push_back(ideal.attach_socket(kNames[kIdeal]));
  links.push_back(ideal.attach_socket(kNames[kIdealAgain]));
  links.push_back(ideal.attach_pipes(kNames[kIdealPipes]));
  links.push_back(same.attach_socket(kNames[kIdealSameSession]));
  links.push_back(daemon.attach(kNames[kCorral]));
  std::vector<double> times[kWays];
  for (Link& link : links) {
    link.open();
    for (int i = 0; i < kWarmUp; ++i) link.echo(kBytes);
  }
  for (int batch = 0; batch < kBatches; ++batch) {
    for (int turn = 0; turn < kWays; ++turn) {
      const int way = (turn + round) % kWays;
      for (int i = 0; i < kPerBatch; ++i)
        times[way].push_back(links[static_cast<std::size_t>(way)].echo(kBytes));
    }
  }
  for (int way = 0; way < kWays; ++way) {
    series.p50[way].push_back(quantile(times[way], 0.5));
    series.p10[way].push_back(quantile(times[way], 0.1));
  }
  links.back().close();
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
    if (way == kCorral && one_core) {
      row.cells.back() = "<= " + fixed(kTarget, 1) + " x ideal";
      row.fields.emplace_back("target_ideal_ratio", json(kTarget));
      row.verdict = judge_ratio(ideal, kTarget, floor);
    }
    section.rows.push_back(row);
  }
}

}  // namespace

void measure_connect_round_trip(const Bench& bench, Results& results, bool one_core) {
  const OneCore pin(one_core);
  Series series;
  const int rounds = bench.rounds(15, 5);
  for (int round = 0; round < rounds; ++round) one_round(bench, round, series);

  Section section;
  section.name = "connect-round-trip";
  section.title = std::string("connect: round trip of a small message, ") +
                  (one_core ? "everything on one core" : "scheduled as the kernel likes");
  section.note =
      std::to_string(rounds) + " rounds, everything started again in each; " + std::to_string(kBatches) +
      " x " + std::to_string(kPerBatch) +
      " requests per way, alternating, each answer checked.\n"
      "The ideal is one epoll thread that swaps ids and checks nothing; it and its server have sessions\n"
      "of their own, as corral's have, except in the row 'one session'. Judged on one core, where only\n"
      "the length of the path counts, against the ideal over a unix socket.";
  section.headers = {"way", "median", "x raw", "x ideal", "middle half", "target"};
  add_rows(section, series.p50, "p50", one_core);
  add_rows(section, series.p10, "p10", one_core);
  results.add(std::move(section));
}

}  // namespace corral::bench
