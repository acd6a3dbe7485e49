// How long a large tree lives after the decision to end it. Every process ignores SIGTERM and the end of
// stdin, and all grace periods are 0, so that the SIGKILL step and its proof are all that is left.
//
// The yardstick is the least that must happen: one killpg of the same tree and a wait for every process by a
// subreaper. It ends only trees that stay in one process group, which is why corral needs more than that.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <map>
#include <stdexcept>

#include "measure.h"
#include "proc_scan.h"
#include "stats.h"

namespace corral::bench {
namespace {

constexpr double kTargetMs = 100;
// What the yardstick takes on the quiet machine for which the target was set. A busy or slow machine delays
// both alike, so there the same target is a multiple of the yardstick.
constexpr double kQuietYardstickMs = 20;
constexpr double kTargetRatio = kTargetMs / kQuietYardstickMs;

struct Shape {
  std::string name;
  std::string argument;
  bool scattered;  // each process in its own session: out of reach of killpg
};

struct Times {
  std::vector<double> report_ms;  // what corral itself reports
  std::vector<double> wall_ms;    // close of stdin to the exit of corral
};

struct ShapeSeries {
  std::vector<double> yardstick;
  std::map<const Variant*, Times> levels;
};

std::vector<std::string> tree_args(const Bench& bench, const Shape& shape) {
  std::vector<std::string> args{shape.argument + std::to_string(bench.options.processes), "--stubborn"};
  if (shape.scattered) args.push_back("--scatter");
  return args;
}

double yardstick_once(const Bench& bench, const Shape& shape) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  SessionSettings settings;
  settings.server_args = tree_args(bench, shape);
  Child child = start_session(bench, bench.raw_session, settings);
  child.ask();

  const Clock::time_point start = Clock::now();
  killpg(child.pid(), SIGKILL);
  int reaped = 0;
  while (waitpid(-1, nullptr, 0) > 0) ++reaped;
  const double ms = ms_since(start);

  child.release();
  prctl(PR_SET_CHILD_SUBREAPER, 0);
  if (reaped != bench.options.processes) {
    throw std::runtime_error("the yardstick reaped " + std::to_string(reaped) + " processes, not " +
                             std::to_string(bench.options.processes));
  }
  return ms;
}

void corral_once(const Bench& bench, const Shape& shape, const Variant& level, Times& times) {
  const std::string report_file = bench.scratch + "/report.json";
  unlink(report_file.c_str());
  SessionSettings settings;
  settings.corral_args = {"--stdin-grace", "0s", "--term-grace", "0s", "--report", report_file};
  settings.server_args = tree_args(bench, shape);
  Child child = start_session(bench, level, settings);
  child.ask();

  const Clock::time_point start = Clock::now();
  child.close_stdin();
  child.wait();
  const double wall_ms = ms_since(start);

  const std::string report = read_file(report_file);
  if (report_field(report, "survivors") != "[]" || report_field(report, "leaked") != "false") {
    throw std::runtime_error(level.name + ", " + shape.name +
                             ": the report doesn't say that all are gone: " + report);
  }
  if (const auto left = wait_for_none(bench.tag, 5); !left.empty()) {
    throw std::runtime_error(level.name + ", " + shape.name + ": " + std::to_string(left.size()) +
                             " processes outlived corral, though it reported none");
  }
  times.report_ms.push_back(std::atof(report_field(report, "ms").c_str()));
  times.wall_ms.push_back(wall_ms);
}

Verdict judge(const Comparison& reported) {
  if (reported.value <= kTargetMs) return Verdict::Ok;
  return reported.ratio <= kTargetRatio ? Verdict::Noise : Verdict::Over;
}

void add_level_row(Section& section, const Shape& shape, const Variant& level, const Times& times,
                   const std::vector<double>& yardstick) {
  Row row;
  const Comparison reported = compare(times.report_ms, yardstick);
  const double wall = median(times.wall_ms);
  row.cells = {shape.name + ", " + level.name,
               fixed(reported.value, 1, "ms"),
               fixed(wall, 1, "ms"),
               fixed(reported.ratio, 2) + " x",
               fixed(reported.low, 2) + "-" + fixed(reported.high, 2),
               "<= " + fixed(kTargetMs, 0) + " ms"};
  row.fields = {{"shape", json(shape.name)},         {"variant", json(level.name)},
                {"report_ms", json(reported.value)}, {"wall_ms", json(wall)},
                {"ratio", json(reported.ratio)},     {"ratio_p25", json(reported.low)},
                {"ratio_p75", json(reported.high)},  {"samples", json(static_cast<double>(reported.samples))},
                {"target_ms", json(kTargetMs)}};
  row.verdict = judge(reported);
  section.rows.push_back(row);
}

void add_rows(const Bench& bench, Section& section, const Shape& shape, const ShapeSeries& series,
              const std::vector<double>& yardstick) {
  if (!shape.scattered) {
    Row row;
    row.cells = {shape.name + ", killpg + wait", "", fixed(median(yardstick), 1, "ms"), "1.00 x", "", "-"};
    row.fields = {{"shape", json(shape.name)},
                  {"variant", json("killpg + wait")},
                  {"wall_ms", json(median(yardstick))},
                  {"samples", json(static_cast<double>(yardstick.size()))}};
    section.rows.push_back(row);
  }
  for (const Variant& level : bench.levels) {
    add_level_row(section, shape, level, series.levels.at(&level), yardstick);
  }
}

}  // namespace

void measure_kill(const Bench& bench, Results& results) {
  const std::array<Shape, 3> shapes{{{"flat", "--flat=", false},
                                     {"tree", "--ternary=", false},
                                     {"tree, own sessions", "--ternary=", true}}};
  std::array<ShapeSeries, 3> series;
  const int rounds = bench.rounds(9, 3);
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      if (!shapes[i].scattered) series[i].yardstick.push_back(yardstick_once(bench, shapes[i]));
      for (const Variant* variant : bench.in_turn(round)) {
        if (variant->is_corral()) corral_once(bench, shapes[i], *variant, series[i].levels[variant]);
      }
    }
  }

  Section section;
  section.name = "kill";
  section.title = "Ending " + std::to_string(bench.options.processes) + " processes that ignore SIGTERM";
  section.note =
      std::to_string(rounds) +
      " trees per row, alternating. 'reported' is `ms` of corral's own report, which ends with the proof\n"
      "that nothing is left; 'wall' runs from the close of stdin to the exit of corral. The ratio is\n"
      "reported / (killpg + wait by a subreaper) of the same round; scattered trees are out of killpg's\n"
      "reach and are compared with the plain tree. More than the target is 'noise' up to " +
      fixed(kTargetRatio, 0) + " x killpg: then the machine is slow today, not corral.";
  section.headers = {"tree", "reported", "wall", "x killpg", "middle half", "target"};
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    add_rows(bench, section, shapes[i], series[i], series[shapes[i].scattered ? 1 : i].yardstick);
  }
  results.add(std::move(section));
}

}  // namespace corral::bench
