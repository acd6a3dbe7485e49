// What the registry costs the loop: each thing that it is told, against one write(2) of a page, and all that
// an attach tells it, against that attach.
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <stdexcept>

#include "base/loop.h"
#include "measure.h"
#include "registry/sqlite_registry.h"
#include "shared_server.h"
#include "stats.h"

namespace corral::bench {
namespace {

constexpr double kTargetShare = 0.05;  // of an attach
constexpr int kBatch = 200;            // things between two looks at the clock, and in one transaction

struct Work {
  const char* name;
  std::function<void(int)> once;
  double per_attach;  // how many an attach to a running server tells
};

events::Event event_numbered(std::uint64_t number) {
  events::Event event;
  event.number = number;
  event.time_ms = 1'800'000'000'000;
  event.kind = events::Kind::Attach;
  event.server = "files";
  event.instance = std::string(32, 'a');
  event.session = number;
  event.cause = "warm";
  event.text = "session 17 of files: attached to a running instance";
  return event;
}

registry::SessionRecord session_numbered(std::uint64_t number) {
  registry::SessionRecord session{.daemon = std::string(32, 'd'), .id = number, .server = "files"};
  session.instance = std::string(32, 'a');
  session.client_name = "some client";
  session.client_version = "1.2.3";
  session.transport = "stdio";
  session.opened_ms = 1'800'000'000'000;
  return session;
}

registry::InstanceRecord instance_numbered(int number) {
  registry::InstanceRecord instance{
      .id = std::to_string(number), .daemon = std::string(32, 'd'), .server = "files"};
  instance.id.insert(0, 32 - instance.id.size(), '0');
  instance.cgroup = "/sys/fs/cgroup/user.slice/corral-" + instance.id;
  instance.keeper = {.pid = number, .pidfs_inode = 1, .start_ticks = 2, .uid = 3};
  return instance;
}

/// Microseconds for each, with what must follow them all.
double per_thing(const Work& work, int& next, const std::function<void()>& then) {
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < kBatch; ++i) work.once(next++);
  then();
  return ms_since(start) * 1000 / kBatch;
}

double attach_once(const Daemon& daemon) {
  const Clock::time_point start = Clock::now();
  Link link = daemon.attach("registry");
  link.open();
  const double us = ms_since(start) * 1000;
  link.close();
  return us;
}

Row row_of(const Work& work, const std::vector<double>& times, const std::vector<double>& page) {
  const Comparison comparison = compare(times, page);
  Row row{{work.name, fixed(comparison.value, 1, "us"), fixed(comparison.ratio, 2) + " x", "-"},
          {{"what", json(std::string(work.name))},
           {"value", json(comparison.value)},
           {"unit", json(std::string("us"))},
           {"page_ratio", json(comparison.ratio)}},
          Verdict::None};
  return row;
}

Row attach_row(double told, double attach) {
  const double share = told / attach;
  return {{"all that one attach tells, of " + fixed(attach / 1000, 2, "ms"), fixed(told, 1, "us"),
           fixed(share * 100, 2) + " %", "<= 5 %"},
          {{"what", json(std::string("share of an attach"))},
           {"value", json(told)},
           {"unit", json(std::string("us"))},
           {"share", json(share)},
           {"target_share", json(kTargetShare)}},
          share <= kTargetShare ? Verdict::Ok : Verdict::Over};
}

}  // namespace

void measure_registry(const Bench& bench, Results& results) {
  const TimeLimit limit(120);
  Loop loop;
  const std::string folder = bench.scratch + "/registry";
  const auto registry = registry::open_registry(loop, folder + "/registry.db");
  if (!registry->degraded().empty()) throw std::runtime_error(registry->degraded());
  const int file = open((folder + "/page").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const std::string page(4096, 'p');
  const Work works[] = {
      {"write(2) of a page", [&](int) { (void)!write(file, page.data(), page.size()); }, 0},
      {"journal of an instance", [&](int i) { registry->journal(instance_numbered(i)); }, 0},
      {"its end", [&](int i) { registry->instance_ended(instance_numbered(i).id, 5, "idle"); }, 0},
      {"an event", [&](int i) { registry->keep(event_numbered(static_cast<unsigned>(i))); }, 0},
      {"a session", [&](int i) { registry->keep(session_numbered(static_cast<unsigned>(i))); }, 0},
      // Attach and detach, opened and ended, with nothing else to be written at that time.
      {"an event and a session, alone",
       [&](int i) {
         registry->keep(event_numbered(static_cast<unsigned>(i)));
         registry->keep(session_numbered(static_cast<unsigned>(i)));
         registry->flush();
       },
       2}};
  constexpr std::size_t kWorks = std::size(works);
  std::vector<double> times[kWorks];
  int next[kWorks] = {};
  std::vector<double> attaches;
  {
    const Daemon daemon(bench);
    Link keeps_it_warm = daemon.attach("first");
    keeps_it_warm.open();
    for (int round = 0; round < bench.rounds(60, 15); ++round) {
      for (std::size_t i = 0; i < kWorks; ++i) {
        times[i].push_back(per_thing(works[i], next[i], [&] { registry->flush(); }));
      }
      attaches.push_back(attach_once(daemon));
      loop.run_due();
    }
    keeps_it_warm.close();
  }
  close(file);
  Section section;
  double told = 0;
  for (std::size_t i = 0; i < kWorks; ++i) {
    section.rows.push_back(row_of(works[i], times[i], times[0]));
    told += works[i].per_attach * median(times[i]);
  }
  section.rows.push_back(attach_row(told, median(attaches)));
  section.name = "registry";
  section.title = "registry: what is kept, on the loop";
  section.note =
      "Events and sessions 200 to a transaction, then each alone: the truth is between the two. Nobody waits "
      "for "
      "the disk, and a\ncall tells nothing.";
  section.headers = {"what", "median", "x page", "target"};
  results.add(std::move(section));
}

}  // namespace corral::bench
