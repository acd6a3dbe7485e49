#include "guard/account.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "base/text.h"
#include "base/units.h"

namespace corral::guard {
namespace {

constexpr std::size_t kMostLines = 50;

std::string processes(std::size_t number) { return counted(number, "process", "processes"); }

const keeper::Survivor* survivor(const keeper::Report& report, pid_t pid) {
  const auto* const end = report.survivor + report.survivors;
  const auto* const found =
      std::find_if(report.survivor, end, [pid](const keeper::Survivor& each) { return each.pid == pid; });
  return found == end ? nullptr : found;
}

bool still_there(const ProcessView& process) {
  const std::optional<ProcessView> now = look_at(process.pid);
  return now && now->start_ticks == process.start_ticks && now->state != 'Z' && now->state != 'X';
}

std::string how_it_ended(const keeper::Report& report, const ProcessView& process) {
  if (survivor(report, process.pid) != nullptr || still_there(process)) return "alive";
  for (std::uint32_t i = 0; i < report.ended_listed; ++i) {
    if (report.ended[i].pid != process.pid) continue;
    const char* const name = sigabbrev_np(report.ended[i].signal);
    return report.ended[i].signal == 0 ? "exited" : std::string("SIG") + (name != nullptr ? name : "RT");
  }
  return "exited";  // its parent reaped it
}

std::string line_of(const Leftover& leftover, const std::string& how, int columns) {
  char start[96];
  snprintf(start, sizeof start, "  %7d %7s %7s  %-8s ", leftover.process.pid,
           show_age(leftover.description.age).c_str(), show_size(leftover.description.memory).c_str(),
           how.c_str());
  std::string line = start + leftover.description.command;
  if (columns > 20 && line.size() >= static_cast<std::size_t>(columns)) {
    line = printable(line.substr(0, static_cast<std::size_t>(columns) - 4)) + "...";
  }
  return line + "\n";
}

template <class How>
std::string lines_of(const std::vector<Leftover>& list, How how, int columns) {
  std::string text;
  for (std::size_t i = 0; i < list.size() && i < kMostLines; ++i)
    text += line_of(list[i], how(list[i].process), columns);
  if (list.size() > kMostLines) text += "  and " + std::to_string(list.size() - kMostLines) + " more\n";
  return text;
}

std::string why_alive(const keeper::Survivor& survivor) {
  switch (survivor.cause) {
    case keeper::Cause::Permission:
      return "it runs as another user; end it with `sudo kill -KILL " + std::to_string(survivor.pid) + "`";
    case keeper::Cause::Uninterruptible:
      return "it is blocked in the kernel; it exits when the device or file system that it waits for "
             "responds";
    case keeper::Cause::Unknown: break;
  }
  return "it did not exit in time; raise --kill-grace";
}

}  // namespace

std::string account(const std::string& client, const Leftovers& leftovers, const keeper::Report& report,
                    int columns) {
  std::string text;
  if (!leftovers.left().empty()) {
    text +=
        "corral guard: " + printable(client) + " left " + processes(leftovers.left().size()) + " behind; ";
    if (report.proved_empty) {
      text += leftovers.left().size() == 1 ? "ended:\n" : "all ended:\n";
    } else {
      text += std::to_string(report.survivors) + " could not be ended:\n";
    }
    text += lines_of(
        leftovers.left(), [&](const ProcessView& process) { return how_it_ended(report, process); }, columns);
  }
  for (std::uint32_t i = 0; i < report.survivors; ++i) {
    const keeper::Survivor& each = report.survivor[i];
    text += "corral guard: process " + std::to_string(each.pid) + " (" + printable(each.comm) + ") of user " +
            std::to_string(each.uid) + " could not be ended: " + why_alive(each) + "\n";
  }
  if (!leftovers.kept().empty()) {
    text += "corral guard: kept " + processes(leftovers.kept().size()) + " because of --keep:\n";
    text += lines_of(
        leftovers.kept(), [](const ProcessView&) { return std::string("kept"); }, columns);
  }
  return text;
}

}  // namespace corral::guard
