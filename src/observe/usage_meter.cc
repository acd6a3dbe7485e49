#include "observe/usage_meter.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/files.h"
#include "base/secrets.h"
#include "base/text.h"
#include "proc/proc_texts.h"
#include "survey/tree_usage.h"

namespace corral::observe {
namespace {

using std::chrono::duration;
using std::chrono::milliseconds;

observe::UsageView view_of(const survey::TreeUsage& tree) {
  observe::UsageView view;
  view.memory = tree.memory;
  milliseconds oldest{0};
  for (const survey::ProcessUsage& process : tree.processes) {
    view.processes.push_back({process.pid, process.parent, process.name, std::string(1, process.state),
                              process.memory, process.cpu, process.age});
    oldest = std::max(oldest, process.age);
  }
  if (oldest.count() > 0) view.cpu = duration<double>(tree.cpu) / duration<double>(oldest);
  return view;
}

ClientProcess look_at_client(pid_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid);
  ClientProcess client;
  client.command = show_command(proc::parse_strings(read_text(folder + "/cmdline")));
  std::error_code error;
  client.root = printable(std::filesystem::read_symlink(folder + "/cwd", error).string());
  return client;
}

/// The result of the worker.
struct Findings {
  Usage usage;
  std::map<pid_t, milliseconds> cpu;  // ever used, by keeper
};

}  // namespace

/// One measurement at a time: if /proc hangs, requests must not pile up as jobs.
void UsageMeter::measure(std::vector<pid_t> keepers, std::vector<pid_t> clients, Measured measured) {
  Request request = std::exchange(next_, std::nullopt).value_or(Request{});
  request.keepers = std::move(keepers);  // the latest request has the current list
  request.clients = std::move(clients);
  request.measured.push_back(std::move(measured));
  if (looking_) {
    next_ = std::move(request);
  } else {
    begin(std::move(request));
  }
}

void UsageMeter::begin(Request request) {
  looking_ = true;
  const auto found = std::make_shared<Findings>();
  worker_.run(
      [found, keepers = std::move(request.keepers), clients = std::move(request.clients)] {
        for (const auto& [keeper, tree] : survey::measure_trees(keepers)) {
          found->usage.trees[keeper] = view_of(tree);
          found->cpu[keeper] = tree.cpu;
        }
        for (const pid_t client : clients) found->usage.clients[client] = look_at_client(client);
      },
      lifetime_.guard([this, found, measured = std::move(request.measured)] {
        looking_ = false;
        if (next_) begin(*std::exchange(next_, std::nullopt));
        rates_.compare(found->usage, found->cpu, Clock::now());
        for (const Measured& one : measured) one(found->usage);
      }));
}

/// Since the previous measurement, if there was one, because users want the current rate.
void CpuRates::compare(Usage& usage, const std::map<pid_t, milliseconds>& cpu, Clock::time_point now) {
  constexpr milliseconds kTooShort{200};
  std::map<pid_t, Before> next;
  for (const auto& [keeper, used] : cpu) {
    const auto found = before_.find(keeper);
    if (found == before_.end()) {
      next[keeper] = {used, now};
      continue;
    }
    const auto since = now - found->second.at;
    const bool usable = since >= kTooShort && used >= found->second.cpu;
    if (usable)
      usage.trees[keeper].cpu = duration<double>(used - found->second.cpu) / duration<double>(since);
    next[keeper] = usable ? Before{used, now} : found->second;
  }
  before_ = std::move(next);
}

}  // namespace corral::observe
