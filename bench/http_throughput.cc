// Many clients that connect by URL, on one server at once, each with one question in flight. One wrong answer
// fails the run.
#include <stdexcept>

#include "load_http.h"
#include "measure.h"
#include "one_core.h"
#include "shared_server.h"
#include "stats.h"

namespace corral::bench {
namespace {

constexpr double kTarget = 0.75;  // of the ideal's, with so many clients:
constexpr int kJudgedClients = 64;
constexpr std::size_t kBytes = 100;
constexpr std::chrono::milliseconds kTurn{60};
constexpr int kTurns = 6;

struct Series {
  std::vector<double> rate;
  std::vector<double> p50;
  std::vector<double> p99;
  std::vector<double> cpu_ms;  // of forwarder or daemon, per 1,000 calls
  std::size_t calls = 0;
  std::size_t wrong = 0;
};

struct Measured {
  Series ideal;
  Series again;  // the ideal once more: what differs from the first is noise
  Series corral;
};

void take_turn(std::vector<HttpClient>& clients, pid_t forwarder, Series& series) {
  const double before = cpu_ms(forwarder);
  const Load load = drive(clients, kTurn, kBytes);
  series.cpu_ms.push_back((cpu_ms(forwarder) - before) * 1000 / static_cast<double>(load.calls));
  series.rate.push_back(load.per_second);
  series.p50.push_back(load.p50_us);
  series.p99.push_back(load.p99_us);
  series.calls += load.calls;
  series.wrong += load.wrong;
}

void one_round(const Bench& bench, int clients, Measured& measured) {
  const TimeLimit limit(120);
  const Ideal ideal(bench, Ideal::Sessions::Own, free_port());
  const Daemon daemon(bench, kSharedServer, {}, free_port());
  std::vector<HttpClient> ideals;
  std::vector<HttpClient> corrals;
  for (int i = 0; i < clients; ++i) {
    ideals.push_back(ideal.attach_http("i" + std::to_string(i)));
    ideals.back().open();
    corrals.push_back(daemon.attach_http("c" + std::to_string(i)));
    corrals.back().open();
  }
  for (int turn = 0; turn < kTurns; ++turn) {
    take_turn(ideals, ideal.pid(), measured.ideal);
    take_turn(corrals, daemon.pid(), measured.corral);
    take_turn(ideals, ideal.pid(), measured.again);
  }
}

Row row_of(const std::string& name, int clients, const Series& series, const Series& ideal, bool one_core) {
  const Comparison rate = compare(series.rate, ideal.rate);
  Row row;
  row.cells = {std::to_string(clients) + ", " + name,
               fixed(rate.value, 0, "/s"),
               fixed(rate.ratio, 2) + " x",
               fixed(rate.low, 2) + "-" + fixed(rate.high, 2),
               fixed(median(series.p50), 0, "us"),
               fixed(median(series.p99), 0, "us"),
               fixed(median(series.cpu_ms), 1, "ms"),
               std::to_string(series.wrong) + " of " + std::to_string(series.calls),
               "-"};
  row.fields = {{"clients", json(clients)},
                {"variant", json(name)},
                {"one_core", one_core ? "true" : "false"},
                {"calls_per_second", json(rate.value)},
                {"ideal_ratio", json(rate.ratio)},
                {"ideal_ratio_p25", json(rate.low)},
                {"ideal_ratio_p75", json(rate.high)},
                {"p50_us", json(median(series.p50))},
                {"p99_us", json(median(series.p99))},
                {"cpu_ms_per_1000_calls", json(median(series.cpu_ms))},
                {"calls", json(static_cast<double>(series.calls))},
                {"wrong", json(static_cast<double>(series.wrong))}};
  return row;
}

Verdict judge(const Measured& measured) {
  const double ratio = compare(measured.corral.rate, measured.ideal.rate).ratio;
  if (ratio >= kTarget) return Verdict::Ok;
  const double floor = noise_floor(ratios(measured.again.rate, measured.ideal.rate));
  return ratio >= kTarget - floor ? Verdict::Noise : Verdict::Over;
}

void add_rows(const Bench& bench, int clients, bool one_core, Section& section) {
  Measured measured;
  for (int round = 0; round < bench.rounds(5, 2); ++round) one_round(bench, clients, measured);
  if (measured.corral.wrong > 0) {
    throw std::runtime_error(std::to_string(measured.corral.wrong) + " of " +
                             std::to_string(measured.corral.calls) + " answers over HTTP were wrong with " +
                             std::to_string(clients) + " clients");
  }
  section.rows.push_back(row_of("ideal, HTTP", clients, measured.ideal, measured.ideal, one_core));
  Row row = row_of("corral serve", clients, measured.corral, measured.ideal, one_core);
  if (clients == kJudgedClients) {
    row.cells.back() = ">= " + fixed(kTarget, 2) + " x ideal";
    row.fields.emplace_back("target_ideal_ratio", json(kTarget));
    row.verdict = judge(measured);
  }
  section.rows.push_back(row);
}

}  // namespace

void measure_http_throughput(const Bench& bench, Results& results, bool one_core) {
  const OneCore pin(one_core);
  Section section;
  section.name = "http-throughput";
  section.title = std::string("HTTP: many clients on one shared server, ") +
                  (one_core ? "everything on one core" : "scheduled as the kernel likes");
  section.note =
      "Each client has a session and a connection that stays, and one request of 100 bytes in flight;\n"
      "one thread plays all clients and compares every answer with its request (a wrong one fails the\n"
      "run). Alternating every 60 ms. CPU is that of the daemon or of the forwarder per 1,000 calls.";
  section.headers = {"clients", "calls", "x ideal", "middle half", "p50", "p99", "CPU", "wrong", "target"};
  for (const int clients : {1, 8, 64, 256}) add_rows(bench, clients, one_core, section);
  results.add(std::move(section));
}

}  // namespace corral::bench
