// The two ends of a session: how much later the first answer comes, and how much later the exit.
#include <chrono>
#include <map>
#include <thread>

#include "measure.h"

namespace corral::bench {
namespace {

using OneSession = double (*)(const Bench&, const Variant&);

// A user's server starts alone. Right after another start, the kernel has some things still warm; above all,
// moving a process into a cgroup is much cheaper shortly after another move (kernel/rcu/sync.c).
constexpr std::chrono::milliseconds kRest{50};

double start_once(const Bench& bench, const Variant& variant) {
  std::this_thread::sleep_for(kRest);
  const Clock::time_point start = Clock::now();
  Child child = start_session(bench, variant);
  child.ask();
  const double ms = ms_since(start);
  child.close_stdin();
  child.wait();
  return ms;
}

double end_once(const Bench& bench, const Variant& variant) {
  Child child = start_session(bench, variant);
  child.ask();
  const Clock::time_point start = Clock::now();
  child.close_stdin();
  child.wait();
  return ms_since(start);
}

void measure_in_turns(const Bench& bench, Results& results, Section section, OneSession once) {
  std::map<const Variant*, std::vector<double>> series;
  const int rounds = bench.rounds(40, 10);
  for (int round = 0; round < rounds; ++round) {
    for (const Variant* variant : bench.in_turn(round)) series[variant].push_back(once(bench, *variant));
  }

  section.note = std::to_string(rounds) + " sessions per variant, alternating. " + section.note;
  section.headers = comparison_headers("variant");
  for (const Variant* variant : bench.in_turn(0)) {
    Row row{{variant->name}, {{"variant", json(variant->name)}}, Verdict::None};
    if (variant == &bench.raw) {
      add_yardstick(row, series[variant], "ms");
    } else {
      add_comparison(row, compare(series[variant], series[&bench.raw]), "ms");
    }
    row.cells.push_back("-");
    section.rows.push_back(row);
  }
  results.add(std::move(section));
}

}  // namespace

void measure_start(const Bench& bench, Results& results) {
  Section section;
  section.name = "start";
  section.title = "Start: from spawn to the first answer";
  section.note =
      "50 ms of rest before each. 'over raw' is what corral adds to the start of any server; the ratio\n"
      "is large only because this server starts faster than any real one.";
  measure_in_turns(bench, results, std::move(section), start_once);
}

void measure_end(const Bench& bench, Results& results) {
  Section section;
  section.name = "end";
  section.title = "End: from the close of stdin to the exit, with a server that leaves when asked";
  section.note = "With corral this includes the proof that nothing is left.";
  measure_in_turns(bench, results, std::move(section), end_once);
}

}  // namespace corral::bench
