// Compares `corral run` with a raw pipe to the same server, and `corral connect` with an ideal forwarder.
// README.md tells how to run and read it.
#include <signal.h>
#include <stdlib.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <random>
#include <stdexcept>

#include "measure.h"
#include "options.h"
#include "proc_scan.h"
#include "results.h"
#include "session.h"

namespace corral::bench {
namespace {

std::string random_tag() {
  std::random_device random;
  char text[64];
  std::snprintf(text, sizeof text, "corral-bench-%08x%08x", random(), random());
  return text;
}

std::string make_scratch() {
  std::string path = (std::filesystem::temp_directory_path() / "corral-bench-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr)
    throw std::runtime_error("cannot create a directory for reports: " + path);
  return path;
}

std::string now_utc() {
  const time_t now = time(nullptr);
  tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string corral_version(const Bench& bench) {
  const std::string file = bench.scratch + "/version";
  const std::string command =
      "'" + bench.options.corral + "' --version > '" + file + "' 2>/dev/null < /dev/null";
  if (std::system(command.c_str()) != 0) return "unknown version";
  const std::string text = read_file(file);
  return text.substr(0, text.find('\n'));
}

std::string cpu_model() {
  const std::string info = read_file("/proc/cpuinfo");
  const std::size_t key = info.find("model name");
  if (key == std::string::npos) return "unknown";
  const std::size_t begin = info.find(": ", key) + 2;
  return info.substr(begin, info.find('\n', begin) - begin);
}

void describe_run(const Bench& bench, Results& results) {
  utsname kernel{};
  uname(&kernel);
  double load[1] = {0};
  getloadavg(load, 1);
  const std::string version = corral_version(bench);
  std::printf(
      "## corral against a raw pipe and an ideal forwarder\n\n%s, kernel %s, %d cpus (%s), load %.2f at the "
      "start%s\n",
      version.c_str(), kernel.release, get_nprocs(), cpu_model().c_str(), load[0],
      bench.options.quick ? ", quick: a first look, not a result" : "");
  for (const std::string& reason : bench.missing) std::printf("not measured, %s\n", reason.c_str());
  std::fflush(stdout);
  results.fact("date", json(now_utc()));
  results.fact("corral", json(version));
  results.fact("kernel", json(std::string(kernel.release)));
  results.fact("cpu", json(cpu_model()));
  results.fact("cpus", json(get_nprocs()));
  results.fact("load_at_start", json(load[0]));
  results.fact("quick", bench.options.quick ? "true" : "false");
  std::string missing;
  for (const std::string& reason : bench.missing) missing += (missing.empty() ? "" : ",") + json(reason);
  results.fact("not_measured", "[" + missing + "]");
}

void measure_connect(const Bench& bench, Results& results) {
  const Options& options = bench.options;
  if (wanted(options, "connect-round-trip")) {
    measure_connect_round_trip(bench, results, true);
    measure_connect_round_trip(bench, results, false);
  }
  if (wanted(options, "connect-throughput")) {
    measure_connect_throughput(bench, results, true);
    measure_connect_throughput(bench, results, false);
  }
  if (wanted(options, "connect-sizes")) measure_connect_sizes(bench, results);
  if (wanted(options, "connect-attach")) measure_connect_attach(bench, results);
  if (wanted(options, "connect-start")) measure_connect_start(bench, results);
  if (wanted(options, "connect-bridge")) measure_connect_bridge(bench, results);
  if (wanted(options, "connect-memory")) measure_connect_memory(bench, results);
  if (wanted(options, "connect-hostile")) measure_connect_hostile(bench, results);
  if (wanted(options, "connect-restart")) measure_connect_restart(bench, results);
  if (wanted(options, "connect-parked")) measure_connect_parked(bench, results);
}

void measure_http(const Bench& bench, Results& results) {
  const Options& options = bench.options;
  if (wanted(options, "http-round-trip")) {
    measure_http_round_trip(bench, results, true);
    measure_http_round_trip(bench, results, false);
  }
  if (wanted(options, "http-throughput")) {
    measure_http_throughput(bench, results, true);
    measure_http_throughput(bench, results, false);
  }
  if (wanted(options, "http-sizes")) measure_http_sizes(bench, results);
  if (wanted(options, "http-attach")) measure_http_attach(bench, results);
  if (wanted(options, "http-memory")) measure_http_memory(bench, results);
}

void measure_all(const Bench& bench, Results& results) {
  const Options& options = bench.options;
  if (wanted(options, "round-trip")) {
    measure_round_trip(bench, results, true);
    measure_round_trip(bench, results, false);
  }
  if (wanted(options, "start")) measure_start(bench, results);
  if (wanted(options, "end")) measure_end(bench, results);
  if (wanted(options, "memory")) measure_memory(bench, results);
  if (wanted(options, "kill")) measure_kill(bench, results);
  if (wanted(options, "doctor")) measure_doctor(bench, results);
  if (wanted(options, "adopt")) measure_adopt(bench, results);
  if (wanted(options, "ps")) measure_ps(bench, results);
  if (wanted(options, "registry")) measure_registry(bench, results);
  if (wanted(options, "reconcile")) measure_reconcile(bench, results);
  measure_connect(bench, results);
  measure_http(bench, results);
  if (wanted(options, "connect-peers")) measure_connect_peers(bench, results);
}

// Also when a measurement failed: what it left is found by the tag. Returns how many there were.
std::size_t sweep(const Bench& bench) {
  const std::vector<pid_t> left = wait_for_none(bench.tag, 5);
  for (pid_t pid : left) {
    std::fprintf(stderr, "run_bench: still alive: %d %s\n", pid, process_name(pid).c_str());
  }
  end_tagged(left, bench.tag);
  std::filesystem::remove_all(bench.scratch);
  return left.size();
}

int run(int argc, char** argv) {
  Bench bench;
  bench.options = parse_options(argc, argv);
  bench.tag = random_tag();
  bench.scratch = make_scratch();
  setenv("CORRAL_BENCH_TAG", bench.tag.c_str(), 1);
  signal(SIGPIPE, SIG_IGN);

  Results results;
  try {
    probe_levels(bench);
    if (bench.levels.empty()) throw std::runtime_error("corral starts no server: " + bench.missing.front());
    describe_run(bench, results);
    measure_all(bench, results);
  } catch (...) {
    sweep(bench);
    throw;
  }
  const std::size_t left = sweep(bench);
  results.fact("survivors", json(static_cast<double>(left)));
  const int over = results.count(Verdict::Over);
  std::printf("\nbudgets: %d ok, %d noise, %d over; processes left behind: %zu\n", results.count(Verdict::Ok),
              results.count(Verdict::Noise), over, left);
  if (!bench.options.json.empty()) results.write_json(bench.options.json);
  return bench.options.strict_budgets && (over > 0 || left > 0) ? 1 : 0;
}

}  // namespace
}  // namespace corral::bench

int main(int argc, char** argv) {
  try {
    return corral::bench::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "run_bench: %s\n", error.what());
    return 2;
  }
}
