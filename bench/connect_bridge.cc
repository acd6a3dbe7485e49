// What it costs that client and server speak different eras. The yardstick is the same client with a server
// of its own era, through the same daemon: what is left is the bridge.
#include "measure.h"
#include "one_core.h"
#include "shared_server.h"
#include "stats.h"

namespace corral::bench {
namespace {

constexpr double kTarget = 1.3;  // times the same call unbridged
constexpr std::size_t kBytes = 100;
constexpr int kWarmUp = 200;
constexpr int kBatches = 12;
constexpr int kPerBatch = 100;

enum Mix { kLegacy, kLegacyAgain, kLegacyToModern, kModern, kModernToLegacy, kMixes };

struct Way {
  const char* name;
  bool modern_client;
  bool modern_server;
  Mix yardstick;
};
constexpr Way kWays[kMixes] = {{"legacy client, legacy server", false, false, kLegacy},
                               {"the same again", false, false, kLegacy},
                               {"legacy client, modern server: bridged", false, true, kLegacy},
                               {"modern client, modern server", true, true, kModern},
                               {"modern client, legacy server: bridged", true, false, kModern}};

using Series = std::vector<double>[kMixes];  // one median per round

void one_round(const Bench& bench, int round, Series& series) {
  const TimeLimit limit(60);
  const Daemon legacy(bench);
  const Daemon modern(bench, kSharedServer, {"--modern"});
  std::vector<Link> links;
  for (const Way& way : kWays) {
    links.push_back((way.modern_server ? modern : legacy).attach(way.name));
    if (way.modern_client) {
      links.back().open_modern();
    } else {
      links.back().open();
    }
    for (int i = 0; i < kWarmUp; ++i) links.back().echo(kBytes);
  }
  std::vector<double> times[kMixes];
  for (int batch = 0; batch < kBatches; ++batch) {
    for (int turn = 0; turn < kMixes; ++turn) {
      const int mix = (turn + round) % kMixes;
      for (int i = 0; i < kPerBatch; ++i)
        times[mix].push_back(links[static_cast<std::size_t>(mix)].echo(kBytes));
    }
  }
  for (int mix = 0; mix < kMixes; ++mix) series[mix].push_back(median(times[mix]));
  for (Link& link : links) link.close();
}

Row row_of(int mix, const Series& series, double floor) {
  const Way& way = kWays[mix];
  const Comparison comparison = compare(series[mix], series[way.yardstick]);
  const bool bridged = way.modern_client != way.modern_server;
  Row row;
  row.cells = {way.name,
               fixed(comparison.value, 2, "us"),
               fixed(compare(series[mix], series[kLegacy]).ratio, 2) + " x",
               fixed(comparison.ratio, 2) + " x",
               fixed(comparison.low, 2) + "-" + fixed(comparison.high, 2),
               bridged ? "<= " + fixed(kTarget, 1) + " x unbridged" : "-"};
  row.fields = {{"mix", json(std::string(way.name))},
                {"value", json(comparison.value)},
                {"unit", json(std::string("us"))},
                {"unbridged_ratio", json(comparison.ratio)},
                {"unbridged_ratio_p25", json(comparison.low)},
                {"unbridged_ratio_p75", json(comparison.high)}};
  if (mix == kLegacyAgain) row.cells.back() = "noise " + fixed(floor, 2);
  if (bridged) {
    row.fields.emplace_back("target_unbridged_ratio", json(kTarget));
    row.verdict = judge_ratio(comparison, kTarget, floor);
  }
  return row;
}

}  // namespace

void measure_connect_bridge(const Bench& bench, Results& results) {
  const OneCore pin(true);
  Series series;
  const int rounds = bench.rounds(15, 5);
  for (int round = 0; round < rounds; ++round) one_round(bench, round, series);

  Section section;
  section.name = "connect-bridge";
  section.title = "connect: a call between client and server of different eras, everything on one core";
  section.note = std::to_string(rounds) + " rounds, everything started again in each; " +
                 std::to_string(kBatches) + " x " + std::to_string(kPerBatch) +
                 " requests of 100 bytes per mix, alternating,\neach answer checked. 'unbridged' is the same "
                 "client with a server of its own era. A modern client\nsends 200 bytes more with every "
                 "request, which is why its own row costs more than the legacy one.";
  section.headers = {"mix", "median", "x legacy", "x unbridged", "middle half", "target"};
  const double floor = noise_floor(ratios(series[kLegacyAgain], series[kLegacy]));
  for (int mix = 0; mix < kMixes; ++mix) section.rows.push_back(row_of(mix, series, floor));
  results.add(std::move(section));
}

}  // namespace corral::bench
