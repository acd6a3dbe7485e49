// What the daemon occupies with no, some and many sessions that are attached and silent, and what a call
// costs it in CPU time.
#include <stdexcept>

#include "measure.h"
#include "one_core.h"
#include "proc_scan.h"
#include "shared_server.h"
#include "stats.h"

namespace corral::bench {
namespace {

constexpr double kIdleTargetMb = 8;
constexpr double kSessionTargetKb = 12;
constexpr double kKeeperTargetMb = 0.8;
constexpr int kCalls = 5000;

Row daemon_row(std::size_t sessions, const Memory& usage, const Memory& empty) {
  Row row;
  const double each =
      sessions == 0 ? 0 : (usage.anonymous_mb - empty.anonymous_mb) * 1e3 / static_cast<double>(sessions);
  row.cells = {"daemon",
               std::to_string(sessions),
               fixed(usage.pss_mb, 2, "MB"),
               fixed(usage.anonymous_mb, 2, "MB"),
               sessions == 0 ? "" : fixed(each, 1, "KB"),
               "-"};
  row.fields = {{"process", json(std::string("daemon"))},
                {"sessions", json(static_cast<double>(sessions))},
                {"pss_mb", json(usage.pss_mb)},
                {"anonymous_mb", json(usage.anonymous_mb)},
                {"kb_per_session", json(each)}};
  if (sessions == 0) {
    row.cells.back() = "<= " + fixed(kIdleTargetMb, 0) + " MB PSS";
    row.fields.emplace_back("target_pss_mb", json(kIdleTargetMb));
    row.verdict = usage.pss_mb <= kIdleTargetMb ? Verdict::Ok : Verdict::Over;
  } else {
    row.cells.back() = "<= " + fixed(kSessionTargetKb, 0) + " KB a session";
    row.fields.emplace_back("target_kb_per_session", json(kSessionTargetKb));
    row.verdict = each <= kSessionTargetKb ? Verdict::Ok : Verdict::Over;
  }
  return row;
}

Row other_row(const std::string& process, std::size_t sessions, const Memory& usage, double target_mb) {
  Row row;
  row.cells = {process,
               std::to_string(sessions),
               fixed(usage.pss_mb, 2, "MB"),
               fixed(usage.anonymous_mb, 2, "MB"),
               "",
               target_mb > 0 ? "<= " + fixed(target_mb, 1) + " MB PSS" : "-"};
  row.fields = {{"process", json(process)},
                {"sessions", json(static_cast<double>(sessions))},
                {"pss_mb", json(usage.pss_mb)},
                {"anonymous_mb", json(usage.anonymous_mb)}};
  if (target_mb > 0) row.verdict = usage.pss_mb <= target_mb ? Verdict::Ok : Verdict::Over;
  return row;
}

Memory keeper_usage(pid_t daemon) {
  for (const pid_t pid : descendants(daemon)) {
    if (process_name(pid) == "corral-keeper") return memory_of(pid);
  }
  throw std::runtime_error("the daemon's server has no keeper");
}

void measure_sessions(const Bench& bench, Results& results) {
  const TimeLimit limit(240);
  Section section;
  const Daemon daemon(bench);
  const Memory empty = memory_of(daemon.pid());
  section.rows.push_back(daemon_row(0, empty, empty));
  std::vector<Link> links;
  for (const std::size_t sessions :
       {std::size_t{1}, std::size_t{100}, std::size_t{bench.options.quick ? 300U : 1000U}}) {
    while (links.size() < sessions) {
      links.push_back(daemon.attach("m" + std::to_string(links.size())));
      links.back().open();
      links.back().echo(100);
    }
    if (sessions == 1) {
      section.rows.push_back(other_row("keeper", sessions, keeper_usage(daemon.pid()), kKeeperTargetMb));
    } else {
      section.rows.push_back(daemon_row(sessions, memory_of(daemon.pid()), empty));
    }
    section.rows.push_back(other_row("one shim", sessions, memory_of(links.front().pid()), 0));
  }
  for (Link& link : links) link.close();
  section.rows.push_back(other_row("daemon afterwards", 0, memory_of(daemon.pid()), 0));

  section.name = "connect-memory";
  section.title = "connect: memory with silent sessions on one shared server";
  section.note =
      "Each session has been opened and has asked once. PSS counts a shared page in parts, and every\n"
      "shim takes a part of the program's text; so the price of a session is taken from the anonymous\n"
      "part alone. KB is 1,000 bytes.";
  section.headers = {"process", "sessions", "PSS", "anonymous", "per session", "target"};
  results.add(std::move(section));
}

struct Cpu {
  std::vector<double> forwarder;
  std::vector<double> ideal;
};

// On one core: between two cores a wake-up costs several times as much, and where things stand is luck.
void measure_cpu(const Bench& bench, Results& results) {
  const OneCore pin(true);
  const TimeLimit limit(120);
  Cpu cpu;
  const Ideal ideal(bench, Ideal::Sessions::Own);
  const Daemon daemon(bench);
  Link ideal_link = ideal.attach_socket("ideal");
  Link corral_link = daemon.attach("corral");
  ideal_link.open();
  corral_link.open();
  const auto spent = [&](Link& link, pid_t pid) {
    const double before = cpu_ms(pid);
    for (int i = 0; i < kCalls; ++i) link.echo(100);
    return (cpu_ms(pid) - before) * 1000 / kCalls;
  };
  for (int round = 0; round < bench.rounds(9, 4); ++round) {
    cpu.ideal.push_back(spent(ideal_link, ideal.pid()));
    cpu.forwarder.push_back(spent(corral_link, daemon.pid()));
  }
  corral_link.close();

  Section section;
  section.name = "connect-memory";
  section.title = "connect: CPU time of the daemon per 1,000 calls, one client in sequence, one core";
  section.note = "The rows with many clients in the throughput table show the same under load.";
  section.headers = {"way", "CPU / 1,000", "x ideal"};
  const Comparison comparison = compare(cpu.forwarder, cpu.ideal);
  section.rows.push_back(
      {{"ideal", fixed(median(cpu.ideal), 1, "ms"), "1.00 x"},
       {{"variant", json(std::string("ideal"))}, {"cpu_ms_per_1000_calls", json(median(cpu.ideal))}},
       Verdict::None});
  section.rows.push_back(
      {{"corral connect", fixed(comparison.value, 1, "ms"), fixed(comparison.ratio, 2) + " x"},
       {{"variant", json(std::string("corral connect"))},
        {"cpu_ms_per_1000_calls", json(comparison.value)},
        {"ideal_ratio", json(comparison.ratio)}},
       Verdict::None});
  results.add(std::move(section));
}

}  // namespace

void measure_connect_memory(const Bench& bench, Results& results) {
  measure_sessions(bench, results);
  measure_cpu(bench, results);
}

}  // namespace corral::bench
