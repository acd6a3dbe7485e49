// What corral itself occupies beside a server. PSS divides a shared page among those who map it, so it adds
// up to what the machine really has less; RSS counts it for each.
#include <string_view>

#include "measure.h"
#include "proc_scan.h"

namespace corral::bench {
namespace {

constexpr double kKeeperTargetMb = 0.8;
constexpr std::string_view kServerName = "echo_server";

struct Total {
  Memory sum;
  int processes = 0;

  void add(const Memory& memory) {
    sum.pss_mb += memory.pss_mb;
    sum.rss_mb += memory.rss_mb;
    ++processes;
  }
  double pss_each() const { return processes == 0 ? 0 : sum.pss_mb / processes; }
  double rss_each() const { return processes == 0 ? 0 : sum.rss_mb / processes; }
};

struct Usage {
  Total outer;   // the process that the client started
  Total keeper;  // corral's other processes; strict may have more than one per session
};

Usage usage_of(const Bench& bench, const Variant& level, int sessions) {
  std::vector<Child> children;
  for (int i = 0; i < sessions; ++i) {
    children.push_back(start_session(bench, level));
    for (int message = 0; message < 20; ++message) children.back().ask();
  }
  Usage usage;
  for (const Child& child : children) {
    usage.outer.add(memory_of(child.pid()));
    for (pid_t pid : descendants(child.pid())) {
      if (process_name(pid) != kServerName) usage.keeper.add(memory_of(pid));
    }
  }
  for (Child& child : children) child.close_stdin();
  for (Child& child : children) child.wait();
  return usage;
}

Row memory_row(const Variant& level, const std::string& who, int sessions, const Total& total, bool judged) {
  Row row;
  const double per_session = static_cast<double>(total.processes) / sessions;
  row.cells = {level.name + ", " + who,
               std::to_string(sessions),
               fixed(per_session, 0),
               fixed(total.pss_each(), 2, "MB"),
               fixed(total.rss_each(), 2, "MB"),
               judged ? "<= " + fixed(kKeeperTargetMb, 1) + " MB PSS" : "-"};
  row.fields = {{"variant", json(level.name)},
                {"process", json(who)},
                {"sessions", json(sessions)},
                {"processes_per_session", json(per_session)},
                {"pss_mb_each", json(total.pss_each())},
                {"rss_mb_each", json(total.rss_each())}};
  if (judged) {
    row.fields.emplace_back("target_pss_mb", json(kKeeperTargetMb));
    const bool ok = total.processes > 0 && total.pss_each() <= kKeeperTargetMb;
    row.verdict = ok ? Verdict::Ok : Verdict::Over;
  }
  return row;
}

}  // namespace

void measure_memory(const Bench& bench, Results& results) {
  Section section;
  section.name = "memory";
  section.title = "Memory of corral's own processes";
  section.note =
      "Mean of each process, after some messages. PSS is judged: what the machine really has less. One "
      "session alone "
      "pays for\nall its pages; other corral processes on the machine share theirs and lower the number.";
  section.headers = {"process", "sessions", "per session", "PSS each", "RSS each", "target"};
  for (const Variant& level : bench.levels) {
    for (int sessions : {1, bench.options.sessions}) {
      const Usage usage = usage_of(bench, level, sessions);
      section.rows.push_back(memory_row(level, "keeper", sessions, usage.keeper, true));
      section.rows.push_back(memory_row(level, "outer", sessions, usage.outer, false));
    }
  }
  results.add(std::move(section));
}

}  // namespace corral::bench
