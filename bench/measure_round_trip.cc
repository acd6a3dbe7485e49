// `corral run` copies no byte, so a message must cost what it costs without corral. A ratio this close to 1
// can only be seen if both sides see the same machine: all variants are open at once and take turns in short
// batches.
//
// A server of corral has a session of its own. Linux with autogroup scheduling (/proc/sys/kernel/
// sched_autogroup_enabled) gives each session a scheduling group, and a switch between two groups costs more
// than one within a group, no matter which process called setsid. So the budget is judged against a raw pipe
// to a server that called setsid; the ratio to the plain raw pipe is printed beside it.
#include <map>

#include "measure.h"
#include "one_core.h"
#include "stats.h"

namespace corral::bench {
namespace {

constexpr double kTarget = 1.05;  // 1.0, and what a quiet machine can resolve
constexpr int kWarmUp = 200;
constexpr int kBatches = 12;
constexpr int kPerBatch = 150;

struct Percentiles {
  std::vector<double> p50;  // one entry per round
  std::vector<double> p10;
};
using Series = std::map<const Variant*, Percentiles>;

// Fresh sessions per round: where the kernel happens to put a process stays with it for life, and must not be
// mistaken for a property of the variant.
void one_round(const Bench& bench, int round, Series& series) {
  const std::vector<const Variant*> order = bench.in_turn(round);
  std::vector<Child> sessions;
  std::vector<std::vector<double>> times(order.size());
  for (const Variant* variant : order) {
    sessions.push_back(start_session(bench, *variant));
    for (int i = 0; i < kWarmUp; ++i) sessions.back().ask();
  }
  for (int batch = 0; batch < kBatches; ++batch) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (int message = 0; message < kPerBatch; ++message) times[i].push_back(sessions[i].ask());
    }
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    series[order[i]].p50.push_back(quantile(times[i], 0.5));
    series[order[i]].p10.push_back(quantile(times[i], 0.1));
    sessions[i].close_stdin();
    sessions[i].wait();
  }
}

void add_rows(const Bench& bench, Section& section, Series& series, bool one_core, bool p10) {
  const auto pick = [&](const Variant& variant) { return p10 ? series[&variant].p10 : series[&variant].p50; };
  const std::vector<double> base = pick(bench.raw);
  const std::vector<double> like = pick(bench.raw_session);
  const double floor = noise_floor(ratios(pick(bench.control), base));
  const std::string statistic = p10 ? "p10" : "p50";
  const auto new_row = [&](const Variant& variant) {
    Row row;
    row.cells = {statistic + ", " + variant.name};
    row.fields = {{"statistic", json(statistic)},
                  {"one_core", one_core ? "true" : "false"},
                  {"variant", json(variant.name)}};
    return row;
  };

  Row raw = new_row(bench.raw);
  add_yardstick(raw, base, "us");
  raw.cells.insert(raw.cells.end(), {"", ""});
  section.rows.push_back(raw);

  Row control = new_row(bench.control);
  add_comparison(control, compare(pick(bench.control), base), "us");
  control.cells.insert(control.cells.end(), {"", "noise " + fixed(floor, 2)});
  control.fields.emplace_back("noise_floor", json(floor));
  section.rows.push_back(control);

  Row session = new_row(bench.raw_session);
  add_comparison(session, compare(like, base), "us");
  session.cells.insert(session.cells.end(), {"1.00 x", ""});
  section.rows.push_back(session);

  for (const Variant& level : bench.levels) {
    Row row = new_row(level);
    add_comparison(row, compare(pick(level), base), "us");
    const Comparison judged = compare(pick(level), like);
    row.cells.insert(row.cells.end(), {fixed(judged.ratio, 2) + " x", "<= " + fixed(kTarget, 2) + " x"});
    row.fields.insert(row.fields.end(), {{"own_session_ratio", json(judged.ratio)},
                                         {"own_session_ratio_p25", json(judged.low)},
                                         {"own_session_ratio_p75", json(judged.high)},
                                         {"target_own_session_ratio", json(kTarget)}});
    row.verdict = judge_ratio(judged, kTarget, floor);
    section.rows.push_back(row);
  }
}

}  // namespace

void measure_round_trip(const Bench& bench, Results& results, bool one_core) {
  const OneCore pin(one_core);
  Series series;
  const int rounds = bench.rounds(20, 5);
  for (int round = 0; round < rounds; ++round) one_round(bench, round, series);

  Section section;
  section.name = "round-trip";
  section.title = std::string("Round trip of a small message, ") +
                  (one_core ? "everything on one core" : "scheduled as the kernel likes");
  section.note =
      std::to_string(rounds) + " rounds of fresh sessions; in each, " + std::to_string(kBatches) + " x " +
      std::to_string(kPerBatch) +
      " messages per variant, alternating. Ratios are medians over the rounds.\n"
      "'x session' is judged: the quotient to a raw pipe whose server called setsid, as every server of "
      "corral does; the kernel\nmay charge for that (autogroup scheduling), corral or not. 'raw pipe again' "
      "is the raw pipe measured twice: how far the\nmiddle half of its ratios is from 1 is the noise, and "
      "over the target by less than that is called 'noise', not 'OVER'.";
  section.headers = {"variant", "median", "over raw", "x raw", "middle half", "x session", "target"};
  add_rows(bench, section, series, one_core, false);
  add_rows(bench, section, series, one_core, true);
  results.add(std::move(section));
}

}  // namespace corral::bench
