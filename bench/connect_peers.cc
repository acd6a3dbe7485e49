// Others that stand between clients and stdio servers, in the same run: socat where it is installed, and the
// npm proxies that peers/install has put into a directory. They are slower by orders of magnitude, so few
// calls are enough, and every one of them is bounded in time. One that fails gets a row that says so.
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <stdexcept>

#include "load_http.h"
#include "measure.h"
#include "one_core.h"
#include "proc_scan.h"
#include "shared_server.h"
#include "stats.h"

namespace corral::bench {
namespace {

constexpr std::size_t kBytes = 100;
constexpr int kClients = 8;
constexpr std::chrono::milliseconds kLoadTime{500};

struct Numbers {
  double start_ms = 0;  // of the proxy, until it accepts connections
  std::vector<double> attach_ms;
  std::vector<double> one_core_us;
  std::vector<double> free_us;
  double per_second = 0;
  double memory_mb = 0;  // PSS of everything but the servers, while so many clients are attached
};

/// What is measured: how to start it, and how to become its client.
struct Peer {
  std::vector<std::string> argv;  // empty: nothing to start
  int port = 0;                   // 0: no HTTP
  std::string tool = "echo";
  std::string socket;  // waited for if there is no port
  std::function<Link(const std::string&)> attach;
  double start_ms = 0;  // where it was started elsewhere
  std::string path = "/mcp";
};

/// A running peer. Everything that it started, also what left it, is found by a mark of its own.
class Running {
 public:
  Running(const Bench& bench, const Peer& peer) : mark_(bench.tag + "-peer") {
    if (peer.argv.empty()) return;
    setenv("CORRAL_BENCH_PEER", mark_.c_str(), 1);
    const Clock::time_point start = Clock::now();
    process_.emplace(peer.argv, SpawnSettings{true, bench.scratch + "/peer.err"});
    unsetenv("CORRAL_BENCH_PEER");
    const auto ready = [&] {
      return peer.port != 0 ? listens(peer.port) : access(peer.socket.c_str(), F_OK) == 0;
    };
    while (!ready()) {
      if (ms_since(start) > 20'000) throw std::runtime_error("not ready after 20 s");
      usleep(2000);
    }
    start_ms_ = ms_since(start);
  }
  ~Running() {
    process_.reset();
    end_tagged(tagged(mark_), mark_);
  }
  Running(const Running&) = delete;

  double start_ms() const { return start_ms_; }

 private:
  std::string mark_;
  std::optional<Child> process_;
  double start_ms_ = 0;
};

/// What stands between the clients and the servers right now. Of what corral starts, not everything carries
/// the tag, but its parent does.
double memory_between(const Bench& bench) {
  std::set<pid_t> all;
  for (const pid_t pid : tagged(bench.tag)) {
    all.insert(pid);
    for (const pid_t below : descendants(pid)) all.insert(below);
  }
  double sum = 0;
  for (const pid_t pid : all) {
    if (process_name(pid) != "echo_server") sum += memory_of(pid).pss_mb;
  }
  return sum;
}

// ---- the same few measurements over pipes and over HTTP

std::vector<double> latencies(const std::function<double()>& ask, int most) {
  std::vector<double> times;
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < most && ms_since(start) < 1000; ++i) times.push_back(ask());
  times.erase(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 5));  // warm-up
  return times;
}

HttpPlace place_of(const Peer& peer) { return {peer.port, peer.path, peer.tool, false}; }

void attach_and_ask(const Peer& peer, Numbers& numbers, std::vector<double>& times) {
  for (int i = 0; i < 3; ++i) {
    const Clock::time_point start = Clock::now();
    if (peer.port != 0) {
      HttpClient client("one", place_of(peer));
      client.open();
      numbers.attach_ms.push_back(ms_since(start));
      if (i == 2) times = latencies([&] { return client.echo(kBytes); }, 1000);
    } else {
      Link link = peer.attach("one");
      link.open();
      numbers.attach_ms.push_back(ms_since(start));
      if (i == 2) times = latencies([&] { return link.echo(kBytes); }, 5000);
    }
  }
}

template <typename Client>
void load(const Bench& bench, std::vector<Client>& clients, Numbers& numbers) {
  for (Client& client : clients) client.open();
  const Load load = drive(clients, kLoadTime, kBytes);
  if (load.wrong > 0) throw std::runtime_error(std::to_string(load.wrong) + " wrong answers");
  numbers.per_second = load.per_second;
  numbers.memory_mb = memory_between(bench);
}

void load_many(const Bench& bench, const Peer& peer, Numbers& numbers) {
  std::vector<HttpClient> clients;
  std::vector<Link> links;
  for (int i = 0; i < kClients; ++i) {
    const std::string name = "c" + std::to_string(i);
    if (peer.port != 0) {
      clients.emplace_back(name, place_of(peer));
    } else {
      links.push_back(peer.attach(name));
    }
  }
  if (peer.port != 0) return load(bench, clients, numbers);
  load(bench, links, numbers);
}

Numbers measure_peer(const Bench& bench, const std::function<Peer()>& make) {
  Numbers numbers;
  {
    const OneCore pin(true);
    const Peer peer = make();
    const Running running(bench, peer);
    attach_and_ask(peer, numbers, numbers.one_core_us);
  }
  numbers.attach_ms.clear();
  const Peer peer = make();
  const Running running(bench, peer);
  numbers.start_ms = peer.argv.empty() ? peer.start_ms : running.start_ms();
  attach_and_ask(peer, numbers, numbers.free_us);
  load_many(bench, peer, numbers);
  return numbers;
}

// ---- who they are

std::string server_line(const Bench& bench) {
  return bench.options.echo_server + " --tag=" + bench.tag + " --lifetime=120";
}

using Maker = std::pair<std::string, std::function<Peer()>>;

std::vector<Maker> ours(const Bench& bench) {
  std::vector<Maker> makers;
  makers.emplace_back("raw pipe, a server each", [&bench] {
    return Peer{{}, 0, "echo", "", [&bench](const std::string& name) { return attach_raw(bench, name); }};
  });
  makers.emplace_back("ideal", [&bench] {
    auto ideal = std::make_shared<Ideal>(bench, Ideal::Sessions::Own);
    return Peer{{}, 0, "echo", "", [ideal](const std::string& name) { return ideal->attach_socket(name); }};
  });
  makers.emplace_back("corral connect", [&bench] {
    auto daemon = std::make_shared<Daemon>(bench);
    daemon->attach("first").open();
    return Peer{{},
                0,
                "echo",
                "",
                [daemon](const std::string& name) { return daemon->attach(name); },
                daemon->ready_ms()};
  });
  makers.emplace_back("ideal, HTTP", [&bench] {
    auto ideal = std::make_shared<Ideal>(bench, Ideal::Sessions::Own, free_port());
    return Peer{{}, ideal->port(), "echo", "", [ideal](const std::string& name) {
                  return ideal->attach_socket(name);
                }};
  });
  makers.emplace_back("corral serve, HTTP", [&bench] {
    auto daemon = std::make_shared<Daemon>(bench, kSharedServer, std::vector<std::string>{}, free_port());
    daemon->attach_http("first").open();
    return Peer{{},
                daemon->port(),
                "echo",
                "",
                [daemon](const std::string& name) { return daemon->attach(name); },
                daemon->ready_ms(),
                "/mcp/echo"};
  });
  return makers;
}

bool have_socat() { return std::system("command -v socat >/dev/null 2>&1") == 0; }

void add_socat(const Bench& bench, std::vector<Maker>& makers) {
  static int number = 0;
  makers.emplace_back("socat, a server each", [&bench] {
    const std::string path = bench.scratch + "/socat" + std::to_string(number++);
    return Peer{
        {"/usr/bin/env", "socat", "UNIX-LISTEN:" + path + ",fork,backlog=64", "EXEC:" + server_line(bench)},
        0,
        "echo",
        path,
        [path](const std::string& name) { return attach_unix(name, path); }};
  });
}

/// nothing if the directory was not filled.
void add_npm(const Bench& bench, std::vector<Maker>& makers) {
  const std::string modules = bench.options.peers + "/node_modules";
  const std::string node = modules + "/node/bin/node";
  makers.emplace_back("supergateway, stateful", [=, &bench] {
    const int port = free_port();
    return Peer{
        {node, modules + "/supergateway/dist/index.js", "--stdio", server_line(bench), "--outputTransport",
         "streamableHttp", "--stateful", "--port", std::to_string(port), "--logLevel", "none"},
        port,
        "echo",
        "",
        {}};
  });
  makers.emplace_back("mcp-proxy", [=, &bench] {
    const int port = free_port();
    return Peer{
        {node, modules + "/mcp-proxy/dist/bin/mcp-proxy.mjs", "--host", "127.0.0.1", "--port",
         std::to_string(port), "--", bench.options.echo_server, "--tag=" + bench.tag, "--lifetime=120"},
        port,
        "echo",
        "",
        {}};
  });
  makers.emplace_back("mcporter serve", [=, &bench] {
    static int number = 0;
    const std::string folder = bench.scratch + "/mcporter" + std::to_string(number++);
    mkdir(folder.c_str(), 0700);
    std::ofstream(folder + "/mcporter.json")
        << R"({"mcpServers":{"fast":{"command":)" << json(bench.options.echo_server) << R"(,"args":[)"
        << json("--tag=" + bench.tag) << R"(,"--lifetime=120"],"lifecycle":"keep-alive"}},"imports":[]})";
    const int port = free_port();
    return Peer{{"/usr/bin/env", "MCPORTER_DAEMON_DIR=" + folder, "HOME=" + folder, node,
                 modules + "/mcporter/dist/cli.js", "--config", folder + "/mcporter.json", "serve", "--http",
                 std::to_string(port)},
                port,
                "fast__echo",
                "",
                {}};
  });
}

// ---- the table

Row row_of(const std::string& name, const Numbers& numbers, const Numbers& raw) {
  const double one_core = median(numbers.one_core_us);
  const double ratio = one_core / median(raw.one_core_us);
  Row row;
  row.cells = {name,
               fixed(one_core, 1, "us"),
               fixed(ratio, 1) + " x",
               fixed(median(numbers.free_us), 1, "us"),
               fixed(numbers.per_second, 0, "/s"),
               fixed(median(numbers.attach_ms), 2, "ms"),
               numbers.start_ms > 0 ? fixed(numbers.start_ms, 0, "ms") : "",
               fixed(numbers.memory_mb, 1, "MB")};
  row.fields = {{"peer", json(name)},
                {"one_core_us", json(one_core)},
                {"one_core_raw_ratio", json(ratio)},
                {"free_us", json(median(numbers.free_us))},
                {"calls_per_second_8_clients", json(numbers.per_second)},
                {"attach_ms", json(median(numbers.attach_ms))},
                {"start_ms", json(numbers.start_ms)},
                {"pss_mb_8_clients", json(numbers.memory_mb)}};
  return row;
}

Row failed_row(const std::string& name, const std::string& why) {
  return {{name, "failed: " + why.substr(0, 60), "", "", "", "", "", ""},
          {{"peer", json(name)}, {"failed", json(why)}},
          Verdict::None};
}

}  // namespace

void measure_connect_peers(const Bench& bench, Results& results) {
  std::vector<Maker> makers = ours(bench);
  const std::size_t own = makers.size();
  std::string missing;
  if (have_socat()) {
    add_socat(bench, makers);
  } else {
    missing += " socat is not installed, so it is not here.";
  }
  if (!bench.options.peers.empty() && std::filesystem::exists(bench.options.peers + "/installed")) {
    add_npm(bench, makers);
  } else {
    missing += " The npm proxies are measured by `make bench PEERS=1`.";
  }

  Section section;
  section.name = "connect-peers";
  section.title = "connect, and others that stand between clients and servers";
  section.headers = {"way", "one core p50", "x raw", "free p50", "8 clients", "attach", "start", "memory"};
  section.note =
      "A small message; every answer checked. 'attach' is connect (for corral: start of the shim),\n"
      "initialize, tools/list; 'start' until the proxy accepts connections; 'memory' is PSS of all that\n"
      "stands between eight clients and their servers after those calls, shims included. The npm\n"
      "proxies speak HTTP here, over one kept connection per client; supergateway and socat start a\n"
      "server for each client." +
      (missing.empty() ? "" : "\n" + missing.substr(1));
  Numbers raw;
  for (std::size_t i = 0; i < makers.size(); ++i) {
    const TimeLimit limit(120);
    try {
      const Numbers numbers = measure_peer(bench, makers[i].second);
      if (i == 0) raw = numbers;
      section.rows.push_back(row_of(makers[i].first, numbers, raw));
    } catch (const std::exception& error) {
      if (i < own) throw;
      section.rows.push_back(failed_row(makers[i].first, error.what()));
    }
  }
  results.add(std::move(section));
}

}  // namespace corral::bench
