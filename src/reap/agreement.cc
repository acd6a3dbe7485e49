#include "reap/agreement.h"

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "base/text.h"
#include "reap/proc_marks.h"
#include "survey/details.h"

namespace corral::reap {
namespace {

constexpr std::size_t kMostStrays = 16;  // reported per instance
constexpr int kDeepestLine = 256;        // a list that is not from one instant may contain a cycle

std::string first_digits(const std::string& instance) {
  constexpr std::size_t kShown = 8;
  return instance.substr(0, kShown);
}

/// Daemon, janitor, keeper, init or a command: names of corral's own processes. Only used to suppress
/// reports.
bool is_called_corral(const std::string& comm) { return comm.starts_with("corral"); }

class AgreementLook {
 public:
  AgreementLook(pid_t self, const std::vector<registry::InstanceRecord>& instances,
                const std::vector<Listed>& processes)
      : self_(self), instances_(instances) {
    for (const Listed& process : processes) {
      by_pid_.emplace(process.pid, &process);
      if (!process.cookie.empty()) by_cookie_[process.cookie].push_back(&process);
    }
    for (auto& [cookie, bearers] : by_cookie_) {
      std::sort(bearers.begin(), bearers.end(), [](const Listed* a, const Listed* b) {
        return std::tie(a->start_ticks, a->pid) < std::tie(b->start_ticks, b->pid);
      });
    }
  }

  std::vector<Disagreement> run() {
    if (!by_pid_.contains(self_))
      return {};  // a list without this process is incomplete: /proc could not be read
    for (const registry::InstanceRecord& record : instances_) look_at(record);
    for (const registry::InstanceRecord& record : instances_) by_cookie_.erase(record.id);
    for (const auto& [cookie, bearers] : by_cookie_) look_at_unknown(cookie, bearers);
    return std::move(found_);
  }

 private:
  using Bearers = std::vector<const Listed*>;

  /// The pid alone may have been reused. Pid and start time together are enough here, because a wrong match
  /// only suppresses or repeats a report.
  const Listed* living(const registry::ProcessFacts& facts) const {
    const auto found = facts.pid > 0 ? by_pid_.find(facts.pid) : by_pid_.end();
    if (found == by_pid_.end() || found->second->start_ticks != facts.start_ticks) return nullptr;
    return found->second;
  }

  /// Whether the process or one of its ancestors satisfies the condition.
  bool in_line(const Listed* process, const std::function<bool(const Listed&)>& wanted) const {
    for (int depth = 0; process != nullptr && depth < kDeepestLine; ++depth) {
      if (wanted(*process)) return true;
      const auto parent = by_pid_.find(process->parent);
      process = parent == by_pid_.end() ? nullptr : parent->second;
    }
    return false;
  }

  void look_at(const registry::InstanceRecord& record) {
    const auto marked = by_cookie_.find(record.id);
    const Listed* const keeper = living(record.keeper);
    const bool any = marked != by_cookie_.end();
    if (keeper == nullptr && !any && living(record.process) == nullptr) {
      return add({Disagreement::Kind::NothingLeft, Disagreement::Repair::Forget, record.server, record.id, 0,
                  name(record) + " is recorded as running, but none of its processes exists: its end was "
                                 "missed and is recorded now"});
    }
    if (keeper == nullptr && record.keeper.pid > 0) {
      const Listed* const oldest = any ? marked->second.front() : living(record.process);
      return add({Disagreement::Kind::KeeperGone, Disagreement::Repair::End, record.server, record.id,
                  oldest->pid,
                  name(record) + " has lost its keeper (pid " + std::to_string(record.keeper.pid) +
                      "), but its process " + std::to_string(oldest->pid) +
                      " is still running: corral ends the processes that provably belong to it"});
    }
    if (keeper != nullptr && any) look_for_strays(record, *keeper, marked->second);
  }

  void look_for_strays(const registry::InstanceRecord& record, const Listed& keeper, const Bearers& bearers) {
    std::size_t told = 0;
    for (const Listed* process : bearers) {
      // The daemon ends the processes that it inherits itself.
      const bool held = in_line(
          process, [&](const Listed& above) { return above.pid == keeper.pid || above.pid == self_; });
      if (held || ++told > kMostStrays) continue;
      add({Disagreement::Kind::Stray, Disagreement::Repair::None, record.server, record.id, process->pid,
           "process " + std::to_string(process->pid) + " carries the mark of " + name(record) +
               ", but is not below its keeper (pid " + std::to_string(keeper.pid) +
               "): its environment was probably copied; inspect the process, and end it by hand if it is not "
               "needed"});
    }
  }

  /// Servers of a running `corral run` or of another daemon are below a corral process. A process that only
  /// copied an environment is not a server, and `corral reap` does not treat it as one either.
  void look_at_unknown(const std::string& cookie, Bearers bearers) {
    std::erase_if(bearers, [](const Listed* process) { return !process->tagged; });
    if (bearers.empty()) return;
    for (const Listed* process : bearers) {
      if (in_line(process, [](const Listed& above) { return is_called_corral(above.comm); })) return;
    }
    const pid_t oldest = bearers.front()->pid;
    const bool holds_us = in_line(by_pid_.contains(self_) ? by_pid_.at(self_) : nullptr,
                                  [&](const Listed& above) { return above.cookie == cookie; });
    if (holds_us) return;
    add({Disagreement::Kind::Orphan,
         Disagreement::Repair::None,
         {},
         cookie,
         oldest,
         "process " + std::to_string(oldest) + " carries the mark of a corral that is gone (instance " +
             first_digits(cookie) + ", " + counted(bearers.size(), "process", "processes") +
             "): use `corral reap` to show and end it"});
  }

  static std::string name(const registry::InstanceRecord& record) {
    return "instance " + first_digits(record.id) + " of server " + record.server;
  }

  void add(Disagreement one) { found_.push_back(std::move(one)); }

  pid_t self_;
  const std::vector<registry::InstanceRecord>& instances_;
  std::unordered_map<pid_t, const Listed*> by_pid_;
  std::map<std::string, Bearers> by_cookie_;
  std::vector<Disagreement> found_;
};

}  // namespace

const char* name_of(Disagreement::Kind kind) {
  switch (kind) {
    case Disagreement::Kind::KeeperGone: return "keeper-gone";
    case Disagreement::Kind::NothingLeft: return "nothing-left";
    case Disagreement::Kind::Stray: return "stray";
    case Disagreement::Kind::Orphan: return "orphan";
  }
  return "?";
}

std::vector<Disagreement> disagreements(pid_t self, const std::vector<registry::InstanceRecord>& instances,
                                        const std::vector<Listed>& processes) {
  return AgreementLook(self, instances, processes).run();
}

std::vector<Disagreement> lasting(const std::vector<Disagreement>& before, std::vector<Disagreement> now) {
  std::erase_if(now, [&before](const Disagreement& one) {
    return std::none_of(before.begin(), before.end(), [&one](const Disagreement& other) {
      return other.kind == one.kind && other.instance == one.instance && other.pid == one.pid;
    });
  });
  return now;
}

std::vector<Listed> list_processes(const std::string& proc) {
  std::vector<Listed> processes;
  ProcMarks marks(proc);
  const uid_t uid = geteuid();
  for (const pid_t pid : marks.pids()) {
    std::optional<ProcMarks::Line> line = marks.line(pid);
    if (!line || line->state == 'Z') continue;
    Listed process{pid, line->parent, line->start_ticks, std::move(line->comm), {}, false};
    if (line->owner == uid) process.cookie = marks.cookie(pid).instance;
    if (!process.cookie.empty()) process.tagged = survey::is_rlimit_tag(marks.rlimit_tag(pid));
    processes.push_back(std::move(process));
  }
  return processes;
}

}  // namespace corral::reap
