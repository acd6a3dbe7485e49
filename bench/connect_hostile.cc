// How long another session's ping takes at most while one client wants more than its share of something. The
// daemon has one thread: whatever a client makes it do in one turn, everybody else waits for.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <thread>

#include "measure.h"
#include "shared_server.h"
#include "stats.h"

namespace corral::bench {
namespace {

constexpr double kTargetMs = 100;  // of one turn, which is when the daemon itself speaks of a slow one
constexpr std::size_t kMega = std::size_t{1} << 20;
constexpr std::chrono::milliseconds kAlone{700};
constexpr std::chrono::seconds kAttackLimit{10};
constexpr const char* kPrivateServer = R"("share":"session")";

/// Writes all of it while it reads and drops what comes back, as long as the other side takes anything.
void converse(const Link& link, std::string_view text, bool reads = true) {
  fcntl(link.to(), F_SETFL, O_NONBLOCK);
  const Clock::time_point give_up = Clock::now() + kAttackLimit;
  static char dropped[65536];
  while (!text.empty() && Clock::now() < give_up) {
    pollfd ends[2] = {{link.to(), POLLOUT, 0}, {link.from(), static_cast<short>(reads ? POLLIN : 0), 0}};
    if (poll(ends, 2, 500) <= 0) return;  // it does not take more: that is its right
    if ((ends[1].revents & POLLIN) != 0 && read(link.from(), dropped, sizeof dropped) <= 0) return;
    if ((ends[0].revents & (POLLERR | POLLHUP)) != 0) return;
    if ((ends[0].revents & POLLOUT) == 0) continue;
    const ssize_t wrote = write(link.to(), text.data(), text.size());
    if (wrote > 0) text.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

std::string request(const std::string& id, const std::string& method, const std::string& params) {
  return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + method + R"(","params":)" + params + "}\n";
}
std::string echo_call(const std::string& id, const std::string& text) {
  return request(id, "tools/call", R"({"name":"echo","arguments":{"text":")" + text + "\"}}");
}

// ---- what they do

/// It was greeted before its server runs; a large call waits for that, and cancellations of others follow.
void cancel_many(const Daemon& daemon) {
  Link before = daemon.attach("before");
  before.open();
  before.close();
  Link link = daemon.attach("cancels");
  link.open();
  std::string text = echo_call("\"large\"", std::string(8 * kMega, 'x'));
  for (int i = 0; i < 3000; ++i) {
    text += R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" +
            std::to_string(i) + "}}\n";
  }
  converse(link, text);
}

void send_batch(const Daemon& daemon) {
  Link link = daemon.attach("batch");
  link.open();
  std::string text(16 * kMega, ',');
  for (std::size_t i = 1; i < text.size(); i += 2) text[i] = '1';
  text.front() = '[';
  converse(link, text + "]\n");
}

void use_large_ids(const Daemon& daemon) {
  Link link = daemon.attach("ids");
  link.open();
  for (char c = 'a'; c < 'e'; ++c) {
    converse(link, echo_call("\"" + std::string(10 * kMega, c) + "\"", "x"));
  }
}

void talk_about_itself(const Daemon& daemon) {
  for (int i = 0; i < 4; ++i) {
    const Link link = daemon.attach("talks");
    converse(link, request("0", "initialize",
                           R"({"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":")" +
                               std::string(10 * kMega, 'n') + R"(","version":"1"}})"));
  }
}

void miss_news(const Daemon& daemon) {
  Link link = daemon.attach("misses");
  link.open();
  std::string text;
  for (int i = 0; i < 10; ++i) text += request(std::to_string(i), "bench/news", "{}");
  converse(link, text, false);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
}

/// Each is a program of its own for all that the daemon can see before it looks.
void leave_answers(const Daemon& daemon) {
  std::vector<HttpClient> clients;
  for (int i = 0; i < 64; ++i) {
    clients.push_back(daemon.attach_http("l" + std::to_string(i), true));
    clients.back().ask_echo(kMega);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
}

void subscribe_often(const Daemon& daemon) {
  Link link = daemon.attach("subscribes");
  link.open();
  std::string text;
  for (int i = 0; i < 12'000; ++i) {
    text += request(std::to_string(i), "resources/subscribe",
                    R"({"uri":"file:///)" + std::string(180, 'u') + std::to_string(i) + "\"}");
  }
  converse(link, text);
}

void answer_nothing(const Daemon& daemon) {
  Link link = daemon.attach("answers");
  link.open();
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n";
  converse(link, text);
}

void read_nothing(const Daemon& daemon) {
  Link link = daemon.attach("deaf");
  link.open();
  std::string text;
  for (int i = 0; i < 40; ++i) {
    text += request(std::to_string(i), "tools/call",
                    R"({"name":"blob","arguments":{"bytes":1048576,"fill":"b"}})");
  }
  converse(link, text, false);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
}

void begin_sessions(const Daemon& daemon) {
  const Clock::time_point end = Clock::now() + std::chrono::seconds(1);
  for (int i = 0; Clock::now() < end; ++i) {
    HttpClient client = daemon.attach_http("s" + std::to_string(i));
    client.open();
  }
}

struct Attack {
  const char* name;
  const char* policy;
  std::vector<std::string> server_args;
  std::function<void(const Daemon&)> act;
};

const std::vector<Attack>& attacks() {
  static const std::vector<Attack> kAll = {
      {"3,000 cancellations behind 8 MB", kPrivateServer, {"--delay=300"}, cancel_many},
      {"a batch of 8 million elements", kSharedServer, {}, send_batch},
      {"ids of 10 MB", kSharedServer, {}, use_large_ids},
      {"10 MB about itself", kSharedServer, {}, talk_about_itself},
      {"80 MB of news that nobody reads", kSharedServer, {}, miss_news},
      {"64 answers of 1 MB by URL that nobody reads", kSharedServer, {}, leave_answers},
      {"12,000 subscriptions", kSharedServer, {}, subscribe_often},
      {"100,000 answers to no question", kSharedServer, {}, answer_nothing},
      {"40 MB that nobody reads", kSharedServer, {}, read_nothing},
      {"new sessions by URL, for a second", kSharedServer, {}, begin_sessions},
  };
  return kAll;
}

// ---- the witness

struct Seen {
  std::vector<double> alone;      // the longest ping of each round, ms
  std::vector<double> meanwhile;  // likewise
  std::vector<double> pings;      // all of them, while it goes on
};

double longest(const std::vector<double>& pings) { return *std::max_element(pings.begin(), pings.end()); }

template <typename Condition>
std::vector<double> ping_while(Link& link, Condition goes_on) {
  std::vector<double> pings;
  do {
    pings.push_back(link.ping() / 1000);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  } while (goes_on());
  return pings;
}

void endure(const Bench& bench, const Attack& attack, Seen& seen) {
  const TimeLimit limit(60);
  const Daemon daemon(bench, attack.policy, attack.server_args, free_port());
  Link witness = daemon.attach("witness");
  witness.open();
  witness.echo(100);
  const Clock::time_point until = Clock::now() + kAlone;
  seen.alone.push_back(longest(ping_while(witness, [until] { return Clock::now() < until; })));
  std::atomic<bool> works = true;
  std::exception_ptr trouble;
  std::thread hostile([&] {
    try {
      attack.act(daemon);
    } catch (const std::exception&) {
      // It was refused, or put out: as it should be.
    }
    works = false;
  });
  std::vector<double> pings;
  try {
    pings = ping_while(witness, [&works] { return works.load(); });
  } catch (...) {
    trouble = std::current_exception();
  }
  hostile.join();
  if (trouble) std::rethrow_exception(trouble);
  seen.meanwhile.push_back(longest(pings));
  seen.pings.insert(seen.pings.end(), pings.begin(), pings.end());
  witness.close();
}

Row row_of(const Attack& attack, const Seen& seen) {
  const double meanwhile = median(seen.meanwhile);
  const double ratio = median(ratios(seen.meanwhile, seen.alone));
  Row row;
  row.cells = {attack.name,
               fixed(median(seen.alone), 2, "ms"),
               fixed(meanwhile, 2, "ms"),
               fixed(ratio, 1) + " x",
               fixed(quantile(seen.pings, 0.99), 2, "ms"),
               "<= " + fixed(kTargetMs, 0) + " ms"};
  row.fields = {{"variant", json(std::string(attack.name))},
                {"longest_alone_ms", json(median(seen.alone))},
                {"longest_meanwhile_ms", json(meanwhile)},
                {"ratio_to_alone", json(ratio)},
                {"p99_meanwhile_ms", json(quantile(seen.pings, 0.99))},
                {"target_longest_ms", json(kTargetMs)}};
  row.verdict = meanwhile <= kTargetMs ? Verdict::Ok : Verdict::Over;
  return row;
}

}  // namespace

void measure_connect_hostile(const Bench& bench, Results& results) {
  Section section;
  section.name = "connect-hostile";
  section.title = "connect: another session's ping while one client wants too much";
  section.note =
      "The longest of a few hundred pings, one each millisecond, alone and while the client is at work; the\n"
      "median of the rounds. corral answers a ping itself, so it shows how long the daemon was busy with\n"
      "something else.";
  section.headers = {
      "what the client does", "longest alone", "longest meanwhile", "x alone", "p99", "target"};
  for (const Attack& attack : attacks()) {
    Seen seen;
    for (int round = 0; round < bench.rounds(5, 1); ++round) endure(bench, attack, seen);
    section.rows.push_back(row_of(attack, seen));
  }
  results.add(std::move(section));
}

}  // namespace corral::bench
