// Ten thousand sessions that listen and say nothing: what each occupies in the daemon, and what a call of
// somebody else takes meanwhile.
#include <sys/resource.h>

#include <algorithm>
#include <stdexcept>

#include "load_http.h"
#include "measure.h"
#include "proc_scan.h"
#include "shared_server.h"
#include "stats.h"

namespace corral::bench {
namespace {

constexpr double kSessionTargetKb = 12;
constexpr double kCallTarget = 2;  // times the round trip without them
constexpr int kCalls = 1000;

/// Both ends of every connection are on this machine, ours and the daemon's: each within its own limit.
std::size_t most_streams(const Bench& bench) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  const std::size_t wanted = bench.options.quick ? 1000 : 10'000;
  return std::min<std::size_t>(wanted, limit.rlim_cur > 500 ? limit.rlim_cur - 500 : 0);
}

double round_trip(HttpClient& client) {
  std::vector<double> times;
  for (int i = 0; i < kCalls; ++i) times.push_back(client.echo(100));
  return median(times);
}

struct Silent {
  std::size_t streams = 0;
  Memory empty;
  Memory full;
  Memory afterwards;
  double quiet_us = 0;
  double full_us = 0;
};

template <typename Open>
Silent measure_silent(const Bench& bench, Open open) {
  const TimeLimit limit(300);
  Silent seen;
  seen.streams = most_streams(bench);
  const Daemon daemon(bench, kSharedServer, {}, free_port());
  HttpClient other = daemon.attach_http("other");
  other.open();
  seen.quiet_us = round_trip(other);
  seen.empty = memory_of(daemon.pid());
  {
    std::vector<HttpClient> silent;
    silent.reserve(seen.streams);
    while (silent.size() < seen.streams) {
      silent.push_back(open(daemon, "s" + std::to_string(silent.size())));
      silent.back().listen();
    }
    seen.full = memory_of(daemon.pid());
    seen.full_us = round_trip(other);
  }
  round_trip(other);
  seen.afterwards = memory_of(daemon.pid());
  return seen;
}

void add_rows(Section& section, const std::string& name, const Silent& seen) {
  const double each =
      (seen.full.anonymous_mb - seen.empty.anonymous_mb) * 1e3 / static_cast<double>(seen.streams);
  const double ratio = seen.full_us / seen.quiet_us;
  Row memory;
  memory.cells = {name,
                  std::to_string(seen.streams),
                  fixed(seen.full.anonymous_mb, 1, "MB"),
                  fixed(seen.afterwards.anonymous_mb, 1, "MB"),
                  fixed(each, 1, "KB"),
                  "<= " + fixed(kSessionTargetKb, 0) + " KB each"};
  memory.fields = {{"variant", json(name)},
                   {"streams", json(static_cast<double>(seen.streams))},
                   {"anonymous_mb", json(seen.full.anonymous_mb)},
                   {"anonymous_mb_afterwards", json(seen.afterwards.anonymous_mb)},
                   {"kb_per_session", json(each)},
                   {"target_kb_per_session", json(kSessionTargetKb)}};
  memory.verdict = each <= kSessionTargetKb ? Verdict::Ok : Verdict::Over;
  section.rows.push_back(memory);
  Row call;
  call.cells = {name + ": a call meanwhile",  std::to_string(seen.streams),
                fixed(seen.full_us, 1, "us"), "",
                fixed(ratio, 2) + " x",       "<= " + fixed(kCallTarget, 0) + " x alone"};
  call.fields = {{"variant", json(name + ": a call meanwhile")},
                 {"streams", json(static_cast<double>(seen.streams))},
                 {"value", json(seen.full_us)},
                 {"unit", json(std::string("us"))},
                 {"ratio_to_alone", json(ratio)},
                 {"target_ratio_to_alone", json(kCallTarget)}};
  call.verdict = ratio <= kCallTarget ? Verdict::Ok : Verdict::Over;
  section.rows.push_back(call);
}

}  // namespace

void measure_http_memory(const Bench& bench, Results& results) {
  Section section;
  section.name = "http-memory";
  section.title = "HTTP: memory with silent streams on one shared server";
  section.note =
      "Each has a connection that stays open. Streamable HTTP: a session that was opened and listens by\n"
      "GET; HTTP+SSE: the stream alone, which is the session. 'afterwards': their clients are gone, though\n"
      "a session of Streamable HTTP outlives its connection. The price of one is taken from the anonymous\n"
      "part. KB is 1,000 bytes.";
  section.headers = {"what", "streams", "with them", "afterwards", "each", "target"};
  add_rows(section, "Streamable HTTP",
           measure_silent(bench, [](const Daemon& daemon, const std::string& name) {
             HttpClient client = daemon.attach_http(name);
             client.open();
             return client;
           }));
  add_rows(section, "HTTP+SSE", measure_silent(bench, [](const Daemon& daemon, const std::string& name) {
             return HttpClient(name, {daemon.port(), "/sse/echo", "echo", false});
           }));
  results.add(std::move(section));
}

}  // namespace corral::bench
