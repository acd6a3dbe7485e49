#include "reap/proc_marks.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include "proc/proc_files.h"
#include "proc/proc_texts.h"

namespace corral::reap {
namespace {

constexpr std::string_view kVariable = "CORRAL_INSTANCE=";
constexpr std::size_t kPiece = 128 * 1024;
constexpr std::size_t kLongestEnvironment = 8 * 1024 * 1024;  // the kernel allows 6 MiB

enum class Piece : std::uint8_t { First, Later };

/// Matches a whole variable, not a part of another variable's value.
std::string find_cookie(std::string_view environment, Piece piece) {
  for (std::size_t at = 0; (at = environment.find(kVariable, at)) != std::string_view::npos; ++at) {
    const bool begins = at == 0 ? piece == Piece::First : environment[at - 1] == '\0';
    const std::string_view value = environment.substr(at + kVariable.size());
    const std::size_t end = value.find('\0');
    if (!begins || end == std::string_view::npos) continue;
    return is_instance_id(value.substr(0, end)) ? std::string(value.substr(0, end)) : std::string();
  }
  return {};
}

}  // namespace

ProcMarks::ProcMarks(const std::string& root)
    : root_(proc::open_directory(AT_FDCWD, root.c_str())), buffer_(kPiece) {}

std::vector<pid_t> ProcMarks::pids() { return proc::pids_in(root_.get()); }

pid_t ProcMarks::newest() const {
  std::array<char, 128> buffer{};
  std::string_view line = proc::read_once(root_.get(), "loadavg", buffer).value_or("");
  while (!line.empty() && line.back() == '\n') line.remove_suffix(1);
  const std::optional<std::uint64_t> number = proc::whole_number(line.substr(line.rfind(' ') + 1));
  return number && *number <= INT_MAX ? static_cast<pid_t>(*number) : 0;
}

/// The first piece of a file; empty if it cannot be read.
std::string_view ProcMarks::read_file(pid_t pid, const char* name, uid_t* owner) {
  char path[32];
  snprintf(path, sizeof path, "%d/%s", pid, name);
  return proc::read_once(root_.get(), path, buffer_, owner).value_or("");
}

std::optional<ProcMarks::Line> ProcMarks::line(pid_t pid) {
  Line line;
  line.pid = pid;
  const std::optional<proc::ProcessStat> stat = proc::parse_process_stat(read_file(pid, "stat", &line.owner));
  if (!stat) return std::nullopt;
  line.parent = stat->parent;
  line.state = stat->state;
  line.start_ticks = stat->start_ticks;
  line.comm = stat->comm;
  return line;
}

/// Most environments fit into one piece. The end of each piece of a longer one is kept, in case a variable
/// was cut there.
ProcMarks::Cookie ProcMarks::cookie(pid_t pid) {
  char path[32];
  snprintf(path, sizeof path, "%d/environ", pid);
  const UniqueFd file(openat(root_.get(), path, O_RDONLY | O_CLOEXEC));
  Cookie cookie;
  std::size_t kept = 0;
  for (std::size_t total = 0; file.valid() && total < kLongestEnvironment;) {
    const std::size_t room = buffer_.size() - kept;
    const ssize_t got = read(file.get(), buffer_.data() + kept, room);
    if (got <= 0) break;
    cookie.seen = true;
    total += static_cast<std::size_t>(got);
    const std::size_t filled = kept + static_cast<std::size_t>(got);
    const bool last = static_cast<std::size_t>(got) < room;
    // A variable that is cut at the end of this piece is found whole in the next one.
    cookie.instance = find_cookie({buffer_.data(), filled}, kept == 0 ? Piece::First : Piece::Later);
    if (!cookie.instance.empty() || last) break;
    constexpr std::size_t kOverlap = 256;
    kept = std::min(filled, kOverlap);
    memmove(buffer_.data(), buffer_.data() + filled - kept, kept);
  }
  return cookie;
}

/// "Max realtime timeout      SOFT      HARD      us". Every user may read this file.
std::uint64_t ProcMarks::rlimit_tag(pid_t pid) {
  constexpr std::string_view kLabel = "Max realtime timeout";
  std::string_view text = read_file(pid, "limits", nullptr);
  for (std::string_view line; proc::take_line(text, line);) {
    if (!line.starts_with(kLabel)) continue;
    line.remove_prefix(kLabel.size());
    proc::take_word(line);                                         // the soft limit
    return proc::whole_number(proc::take_word(line)).value_or(0);  // the hard limit, or "unlimited"
  }
  return 0;
}

MarkSearch::MarkSearch(ProcMarks& marks, const std::vector<Claim>& claims, uid_t uid)
    : marks_(marks), uid_(uid) {
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (!claims[i].cookie.empty()) by_cookie_.emplace(claims[i].cookie, i);
    if (claims[i].rlimit_tag != 0) by_tag_.emplace(claims[i].rlimit_tag, i);
    not_before_ = std::min(not_before_, claims[i].not_before);
  }
}

MarkSearch::Found MarkSearch::look_at(pid_t pid) {
  const std::optional<ProcMarks::Line> line = marks_.line(pid);
  if (!line) return {std::nullopt, false, true};
  if (line->state == 'Z' || line->start_ticks < not_before_) return {};
  constexpr uid_t kRoot = 0;  // root also owns the files of our processes that hide their memory
  const bool own = line->owner == uid_;
  if (!own && line->owner != kRoot) return {};
  ProcMarks::Cookie cookie;
  if (own) cookie = marks_.cookie(pid);
  const auto with_cookie = by_cookie_.find(cookie.instance);
  if (with_cookie != by_cookie_.end()) return {Hit{pid, with_cookie->second, line->start_ticks}};
  if (!by_tag_.empty()) {
    const auto with_tag = by_tag_.find(marks_.rlimit_tag(pid));
    if (with_tag != by_tag_.end()) return {Hit{pid, with_tag->second, line->start_ticks}};
  }
  return {std::nullopt, !own || cookie.seen};  // during exec there is no environment
}

/// The kernel assigns pids in order and wraps around to 300. If it has wrapped, there may be millions of
/// numbers between the known pid and the newest one, so the list of running processes is used instead.
pid_t MarkSearch::look_at_newborn(pid_t known, const std::function<void(const Hit&)>& found) {
  constexpr pid_t kFirstAgain = 300;
  const auto report = [&](pid_t pid) {
    if (const auto hit = look(pid)) found(*hit);
  };
  const pid_t newest = marks_.newest();
  if (newest >= known) {
    for (pid_t pid = known + 1; pid <= newest; ++pid) report(pid);
    return newest;
  }
  std::vector<pid_t> since = marks_.pids();
  std::erase_if(since, [&](pid_t pid) { return pid <= known && (pid < kFirstAgain || pid > newest); });
  // In the order of birth, so that the children of a process are never examined before it.
  std::sort(since.begin(), since.end(), [known](pid_t one, pid_t other) {
    return std::pair(one <= known, one) < std::pair(other <= known, other);
  });
  std::for_each(since.begin(), since.end(), report);
  return newest;
}

MarkSearch::Pass MarkSearch::next(const std::function<void(const Hit&)>& found) {
  std::vector<pid_t> pids = marks_.pids();
  std::sort(pids.begin(), pids.end(), std::greater<>());
  Pass pass{!pids.empty(), 0};
  std::unordered_set<pid_t> unmarked;
  unmarked.reserve(pids.size());
  for (const pid_t pid : pids) {
    if (!unmarked_.contains(pid)) {
      const Found look = look_at(pid);
      if (look.hit) found(*look.hit);
      pass.missed += look.missed ? 1 : 0;
      if (look.hit || !look.final) continue;
    }
    unmarked.insert(pid);
  }
  unmarked_ = std::move(unmarked);
  return pass;
}

}  // namespace corral::reap
