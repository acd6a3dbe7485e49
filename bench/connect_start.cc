// What a client waits for where its server does not run: from the start of the shim to the list of tools, and
// to the first answer of a tool. The server takes a while to start, as those that npx and uvx run do; the
// yardstick is the same server started directly in the same round.
#include <chrono>
#include <stdexcept>
#include <thread>

#include "measure.h"
#include "shared_server.h"
#include "stats.h"

namespace corral::bench {
namespace {

constexpr std::size_t kBytes = 100;
constexpr const char* kDelay = "--delay=200";
constexpr std::chrono::milliseconds kDelayTime{200};
constexpr std::chrono::seconds kPatience{15};
constexpr const char* kKnown = R"("share":"session")";
constexpr const char* kCold = R"("share":"session","eager":true)";
constexpr const char* kSpare = R"("share":"session","warm":1)";

constexpr double kManifestTarget = 1.5;  // to the list, times the attach to a server that runs
constexpr double kSpareTarget = 0.25;    // to the first answer, times a cold private start

enum What { kRaw, kRunning, kManifest, kWithSpare, kPrivateCold, kUnknown, kWhats };
constexpr const char* kNames[kWhats] = {"the server started directly",
                                        "shared, it runs already",
                                        "private, from the manifest",
                                        "private, a spare is ready",
                                        "private, cold",
                                        "private, nothing known: its era is found out first"};

struct Times {
  std::vector<double> list[kWhats];
  std::vector<double> answer[kWhats];
};

void time_one(Link link, Clock::time_point start, What what, Times& times) {
  link.open();
  times.list[what].push_back(ms_since(start));
  link.echo(kBytes);
  times.answer[what].push_back(ms_since(start));
  link.close();
}

void attach_and_call(const Daemon& daemon, What what, Times& times) {
  const Clock::time_point start = Clock::now();
  time_one(daemon.attach(kNames[what]), start, what, times);
}

void wait_for_servers(const Daemon& daemon, std::size_t count) {
  const Clock::time_point deadline = Clock::now() + kPatience;
  while (daemon.servers().size() != count) {
    if (Clock::now() > deadline) throw std::runtime_error("the daemon does not have the servers it should");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

/// It lists its tools while nothing runs for it.
void from_manifest(const Daemon& daemon, Times& times) {
  wait_for_servers(daemon, 0);
  const Clock::time_point start = Clock::now();
  Link link = daemon.attach(kNames[kManifest]);
  link.open();
  times.list[kManifest].push_back(ms_since(start));
  if (!daemon.servers().empty()) throw std::runtime_error("an attach by manifest has started a server");
  link.echo(kBytes);
  times.answer[kManifest].push_back(ms_since(start));
  link.close();
}

void with_spare(const Daemon& daemon, Times& times) {
  wait_for_servers(daemon, 1);
  std::this_thread::sleep_for(kDelayTime + std::chrono::milliseconds(60));  // until it is handshaken
  attach_and_call(daemon, kWithSpare, times);
}

void one_round(const Bench& bench, const Daemon (&daemons)[kWhats], int round, Times& times) {
  const TimeLimit limit(60);
  for (int turn = 0; turn < kWhats; ++turn) {
    const auto what = static_cast<What>((turn + round) % kWhats);
    switch (what) {
      case kRaw: {
        const Clock::time_point start = Clock::now();
        time_one(attach_raw(bench, kNames[kRaw], false, {kDelay}), start, kRaw, times);
        break;
      }
      case kManifest: from_manifest(daemons[what], times); break;
      case kWithSpare: with_spare(daemons[what], times); break;
      case kUnknown: attach_and_call(Daemon(bench, kKnown, {kDelay}), what, times); break;
      case kRunning:
      case kPrivateCold: attach_and_call(daemons[what], what, times); break;
      case kWhats: break;
    }
  }
}

void set_target(Row& row, const std::vector<double>& times, const std::vector<double>& yardstick,
                double target, const char* of) {
  const Comparison comparison = compare(times, yardstick);
  const double noise = (quantile(yardstick, 0.75) - quantile(yardstick, 0.25)) / median(yardstick);
  row.cells.back() = fixed(comparison.ratio, 2) + " x " + of + ", <= " + fixed(target, 2);
  row.fields.emplace_back("yardstick", json(std::string(of)));
  row.fields.emplace_back("yardstick_ratio", json(comparison.ratio));
  row.fields.emplace_back("target_ratio", json(target));
  row.verdict = judge_ratio(comparison, target, noise);
}

Row row_of(What what, const Times& times) {
  const Comparison list = compare(times.list[what], times.list[kRaw]);
  const Comparison answer = compare(times.answer[what], times.answer[kRaw]);
  Row row;
  row.cells = {kNames[what],
               fixed(list.value, 2, "ms"),
               fixed(list.ratio, 3) + " x",
               fixed(answer.value, 2, "ms"),
               fixed(answer.ratio, 3) + " x",
               "-"};
  row.fields = {
      {"what", json(std::string(kNames[what]))}, {"list_ms", json(list.value)},
      {"list_raw_ratio", json(list.ratio)},      {"answer_ms", json(answer.value)},
      {"answer_raw_ratio", json(answer.ratio)},  {"samples", json(static_cast<double>(list.samples))}};
  if (what == kManifest) {
    set_target(row, times.list[what], times.list[kRunning], kManifestTarget, "list of a running one");
  }
  if (what == kWithSpare) {
    set_target(row, times.answer[what], times.answer[kPrivateCold], kSpareTarget, "cold answer");
  }
  return row;
}

}  // namespace

void measure_connect_start(const Bench& bench, Results& results) {
  Times times;
  const int rounds = bench.rounds(25, 6);
  {
    const Daemon daemons[kWhats] = {Daemon(bench),
                                    Daemon(bench, kSharedServer, {kDelay}),
                                    Daemon(bench, kKnown, {kDelay}),
                                    Daemon(bench, kSpare, {kDelay}),
                                    Daemon(bench, kCold, {kDelay}),
                                    Daemon(bench)};
    Times first;  // each learns what it can know before the clock counts
    std::vector<Link> stays;
    stays.push_back(daemons[kRunning].attach("stays"));
    stays.back().open();
    for (const What what : {kManifest, kWithSpare, kPrivateCold}) attach_and_call(daemons[what], what, first);
    for (int round = 0; round < rounds; ++round) one_round(bench, daemons, round, times);
    stays.back().close();
  }

  Section section;
  section.name = "connect-start";
  section.title =
      "connect: from nothing to a list of tools and to a first answer, a server that starts in 200 ms";
  section.note = std::to_string(rounds) +
                 " times each, alternating; the daemon runs. 'list' is initialize and tools/list, 'answer' "
                 "the first\nanswer of a tool after that; both from the start of the client's child process.";
  section.headers = {"what", "list", "x direct", "answer", "x direct", "target"};
  for (int what = 0; what < kWhats; ++what) section.rows.push_back(row_of(static_cast<What>(what), times));
  results.add(std::move(section));
}

}  // namespace corral::bench
