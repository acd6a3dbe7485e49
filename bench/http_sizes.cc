// Small and large messages over HTTP, and what a large one costs the daemon in memory.
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <stdexcept>

#include "load_http.h"
#include "measure.h"
#include "one_core.h"
#include "proc_scan.h"
#include "shared_server.h"
#include "stats.h"

namespace corral::bench {
namespace {

constexpr double kTarget = 1.3;        // times the ideal, for the largest answer
constexpr double kMemoryTarget = 3.0;  // times the message: peak of the whole daemon

struct Size {
  const char* name;
  std::size_t bytes;
  bool both_ways;  // the question is as large as the answer
  int calls;       // per batch
};

constexpr Size kSizes[] = {{"4 KB both ways", 4'000, true, 100},
                           {"1 MB both ways", 1'000'000, true, 4},
                           {"10 MB answer", 10'000'000, false, 2}};

struct Series {
  std::vector<double> raw;
  std::vector<double> ideal;
  std::vector<double> again;
  std::vector<double> corral;
};

template <typename Client>
double batch(Client& client, const Size& size) {
  std::vector<double> times;
  for (int i = 0; i < size.calls; ++i)
    times.push_back(size.both_ways ? client.echo(size.bytes) : client.blob(size.bytes));
  return median(times);
}

void one_round(const Bench& bench, const Size& size, Series& series) {
  const TimeLimit limit(60);
  const Ideal ideal(bench, Ideal::Sessions::Own, free_port());
  const Daemon daemon(bench, kSharedServer, {}, free_port());
  Link raw = attach_raw(bench, "raw", true);
  HttpClient ideal_client = ideal.attach_http("ideal");
  HttpClient corral_client = daemon.attach_http("corral");
  raw.open();
  ideal_client.open();
  corral_client.open();
  batch(raw, size);  // memory is grown once, and not measured
  batch(ideal_client, size);
  batch(corral_client, size);
  for (int turn = 0; turn < 3; ++turn) {
    series.raw.push_back(batch(raw, size));
    series.ideal.push_back(batch(ideal_client, size));
    series.corral.push_back(batch(corral_client, size));
    series.again.push_back(batch(ideal_client, size));
  }
}

Row row_of(const Size& size, const Series& series, bool one_core) {
  const Comparison ideal = compare(series.corral, series.ideal);
  const Comparison raw = compare(series.corral, series.raw);
  const double floor = noise_floor(ratios(series.again, series.ideal));
  Row row;
  row.cells = {size.name,
               fixed(median(series.raw), 1, "us"),
               fixed(median(series.ideal), 1, "us"),
               fixed(ideal.value, 1, "us"),
               fixed(raw.ratio, 2) + " x",
               fixed(ideal.ratio, 2) + " x",
               fixed(ideal.low, 2) + "-" + fixed(ideal.high, 2),
               fixed(floor, 2),
               "-"};
  row.fields = {{"size", json(std::string(size.name))},
                {"one_core", one_core ? "true" : "false"},
                {"raw_us", json(median(series.raw))},
                {"ideal_us", json(median(series.ideal))},
                {"value", json(ideal.value)},
                {"unit", json(std::string("us"))},
                {"raw_ratio", json(raw.ratio)},
                {"ideal_ratio", json(ideal.ratio)},
                {"noise_floor", json(floor)}};
  if (&size == &kSizes[std::size(kSizes) - 1]) {
    row.cells.back() = "<= " + fixed(kTarget, 1) + " x ideal";
    row.fields.emplace_back("target_ideal_ratio", json(kTarget));
    row.verdict = judge_ratio(ideal, kTarget, floor);
  }
  return row;
}

double peak_of(pid_t pid) {
  const std::string status = read_file("/proc/" + std::to_string(pid) + "/status");
  const std::size_t at = status.find("VmHWM:");
  if (at == std::string::npos) throw std::runtime_error("no peak of memory in /proc");
  return std::atof(status.c_str() + at + std::strlen("VmHWM:")) * 1024 / 1e6;
}

void measure_peak(const Bench& bench, Results& results) {
  const TimeLimit limit(60);
  const Size& size = kSizes[std::size(kSizes) - 1];
  const Daemon daemon(bench, kSharedServer, {}, free_port());
  HttpClient client = daemon.attach_http("corral");
  client.open();
  client.echo(100);
  const double before = peak_of(daemon.pid());
  for (int i = 0; i < 10; ++i) client.blob(size.bytes);
  const double peak = peak_of(daemon.pid());
  const double message = static_cast<double>(size.bytes) / 1e6;

  Section section;
  section.name = "http-sizes";
  section.title = "HTTP: the daemon's memory for a 10 MB answer";
  section.note = "Resident, the whole daemon: before the first, and the most during ten such answers.";
  section.headers = {"message", "before", "peak", "peak / message", "target"};
  Row row;
  row.cells = {size.name, fixed(before, 1, "MB"), fixed(peak, 1, "MB"), fixed(peak / message, 2) + " x",
               "<= " + fixed(kMemoryTarget, 0) + " x"};
  row.fields = {{"size", json(std::string(size.name))},
                {"before_mb", json(before)},
                {"peak_mb", json(peak)},
                {"peak_ratio", json(peak / message)},
                {"target_peak_ratio", json(kMemoryTarget)}};
  row.verdict = peak <= kMemoryTarget * message ? Verdict::Ok : Verdict::Over;
  section.rows.push_back(row);
  results.add(std::move(section));
}

}  // namespace

void measure_http_sizes(const Bench& bench, Results& results) {
  for (const bool one_core : {true, false}) {
    const OneCore pin(one_core);
    Section section;
    section.name = "http-sizes";
    section.title = std::string("HTTP: sizes, ") +
                    (one_core ? "everything on one core" : "scheduled as the kernel likes");
    section.note =
        "One client in sequence; medians. The raw pipe's server has a session of its own. 'noise' is\n"
        "that of the ideal against itself.";
    section.headers = {"size",    "raw",         "ideal", "corral", "x raw",
                       "x ideal", "middle half", "noise", "target"};
    for (const Size& size : kSizes) {
      Series series;
      for (int round = 0; round < bench.rounds(5, 2); ++round) one_round(bench, size, series);
      section.rows.push_back(row_of(size, series, one_core));
    }
    results.add(std::move(section));
  }
  measure_peak(bench, results);
}

}  // namespace corral::bench
