// Many clients on one server at once, each with one question in flight. One wrong answer fails the run: that
// is not a matter of speed.
#include <stdexcept>

#include "measure.h"
#include "one_core.h"
#include "shared_server.h"
#include "stats.h"

namespace corral::bench {
namespace {

constexpr double kTarget = 0.75;  // of the ideal's, with so many clients:
constexpr int kJudgedClients = 64;
constexpr std::size_t kBytes = 100;
// Short turns: a neighbour that takes the machine for a while takes it from both.
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
  Series pipes;  // the ideal with pipes handed over: corral's transport
  Series corral;
};

void take_turn(std::vector<Link>& links, pid_t forwarder, Series& series) {
  const double before = cpu_ms(forwarder);
  const Load load = drive(links, kTurn, kBytes);
  series.cpu_ms.push_back((cpu_ms(forwarder) - before) * 1000 / static_cast<double>(load.calls));
  series.rate.push_back(load.per_second);
  series.p50.push_back(load.p50_us);
  series.p99.push_back(load.p99_us);
  series.calls += load.calls;
  series.wrong += load.wrong;
}

void one_round(const Bench& bench, int clients, Measured& measured) {
  const TimeLimit limit(120);
  const Ideal ideal(bench, Ideal::Sessions::Own);
  const Daemon daemon(bench);
  std::vector<Link> ideals;
  std::vector<Link> pipes;
  std::vector<Link> corrals;
  for (int i = 0; i < clients; ++i) {
    ideals.push_back(ideal.attach_socket("i" + std::to_string(i)));
    ideals.back().open();
    pipes.push_back(ideal.attach_pipes("p" + std::to_string(i)));
    pipes.back().open();
    corrals.push_back(daemon.attach("c" + std::to_string(i)));
    corrals.back().open();
  }
  for (int turn = 0; turn < kTurns; ++turn) {
    take_turn(ideals, ideal.pid(), measured.ideal);
    take_turn(pipes, ideal.pid(), measured.pipes);
    take_turn(corrals, daemon.pid(), measured.corral);
    take_turn(ideals, ideal.pid(), measured.again);
  }
  for (Link& link : corrals) link.close();
}

Row row_of(const std::string& name, int clients, const Series& series, const Series& ideal) {
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
                             std::to_string(measured.corral.calls) + " answers were wrong with " +
                             std::to_string(clients) + " clients");
  }
  section.rows.push_back(row_of("ideal", clients, measured.ideal, measured.ideal));
  section.rows.push_back(row_of("ideal, pipes handed over", clients, measured.pipes, measured.ideal));
  Row row = row_of("corral connect", clients, measured.corral, measured.ideal);
  if (clients == kJudgedClients) {
    row.cells.back() = ">= " + fixed(kTarget, 2) + " x ideal";
    row.fields.emplace_back("target_ideal_ratio", json(kTarget));
    row.verdict = judge(measured);
  }
  section.rows.push_back(row);
  for (std::size_t i = section.rows.size() - 3; i < section.rows.size(); ++i) {
    section.rows[i].fields.emplace_back("one_core", one_core ? "true" : "false");
  }
}

}  // namespace

void measure_connect_throughput(const Bench& bench, Results& results, bool one_core) {
  const OneCore pin(one_core);
  Section section;
  section.name = "connect-throughput";
  section.title = std::string("connect: many clients on one shared server, ") +
                  (one_core ? "everything on one core" : "scheduled as the kernel likes");
  section.note =
      "Each client has one request of 100 bytes in flight; one thread plays all clients and compares\n"
      "every answer with its request (a wrong one fails the run). Alternating every 60 ms. CPU is that of\n"
      "the daemon or of the forwarder per 1,000 calls. All ways have the same server, which answers all\n"
      "that it reads at once in one write. The target is set against the ideal over a unix socket.";
  section.headers = {"clients", "calls", "x ideal", "middle half", "p50", "p99", "CPU", "wrong", "target"};
  for (const int clients : {1, 8, 64, 256}) add_rows(bench, clients, one_core, section);
  results.add(std::move(section));
}

}  // namespace corral::bench
