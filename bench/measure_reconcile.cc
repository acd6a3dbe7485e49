// How a start of the daemon finds what an earlier one has left, on a /proc of 10,000 processes that is made
// for the purpose, against one plain pass: the directory, and one file of each process.
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "measure.h"
#include "reap/proc_marks.h"
#include "stats.h"

namespace corral::bench {
namespace {

constexpr double kTarget = 2;  // times the plain pass
constexpr int kProcesses = 10'000;
constexpr int kInstances = 9;
constexpr std::uint64_t kDaemonStart = 1'000'000;

void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string limits_text() {
  std::string text = "Limit                     Soft Limit           Hard Limit           Units     \n";
  for (int i = 0; i < 15; ++i) {
    text += "Max something else        1048576              1048576              files     \n";
  }
  return text + "Max realtime timeout      unlimited            unlimited            us        \n";
}

/// `younger` of them were started after the daemon, so they could be of it.
std::string make_proc(const std::string& scratch, int younger) {
  const std::filesystem::path root = std::filesystem::path(scratch) / ("proc-" + std::to_string(younger));
  std::string environment;
  for (int i = 0; i < 60; ++i)
    environment += "VARIABLE_" + std::to_string(i) + "=" + std::string(40, 'v') + '\0';
  const std::string limits = limits_text();
  for (int i = 0; i < kProcesses; ++i) {
    const int pid = 1000 + i;
    const std::filesystem::path folder = root / std::to_string(pid);
    std::filesystem::create_directories(folder);
    const std::uint64_t start = i < kProcesses - younger ? 5000 : kDaemonStart + 1;
    write_text(folder / "stat", std::to_string(pid) +
                                    " (node) S 1 20 21 34816 -1 4194304 1 2 3 4 50 60 7 8 20 0 11 0 " +
                                    std::to_string(start) + " 1000 100 18446744073709551615\n");
    write_text(folder / "environ", environment);
    write_text(folder / "limits", limits);
  }
  return root.string();
}

double plain_pass(const std::string& root) {
  const Clock::time_point start = Clock::now();
  DIR* const directory = opendir(root.c_str());
  if (directory == nullptr) throw std::runtime_error("no directory: " + root);
  std::size_t bytes = 0;
  char text[1024];
  while (const dirent* entry = readdir(directory)) {
    if (entry->d_name[0] == '.') continue;
    char path[300];
    snprintf(path, sizeof path, "%s/stat", entry->d_name);
    const int file = openat(dirfd(directory), path, O_RDONLY | O_CLOEXEC);
    const ssize_t got = read(file, text, sizeof text);
    bytes += got > 0 ? static_cast<std::size_t>(got) : 0;
    close(file);
  }
  closedir(directory);
  if (bytes == 0) throw std::runtime_error("nothing was read");
  return ms_since(start);
}

/// Two clean searches, as at every start that has records of a daemon without an end.
double reconcile(const std::string& root) {
  std::vector<reap::Claim> claims;
  for (int i = 0; i < kInstances; ++i) {
    claims.push_back({std::string(31, 'a') + std::to_string(i), (1ULL << 61) + static_cast<std::uint64_t>(i),
                      kDaemonStart, geteuid()});
  }
  const Clock::time_point start = Clock::now();
  reap::ProcMarks marks(root);
  reap::MarkSearch search(marks, claims, geteuid());
  for (int i = 0; i < 2; ++i) {
    const auto hit = [](const reap::MarkSearch::Hit&) { throw std::runtime_error("nobody is marked"); };
    if (!search.next(hit).readable) throw std::runtime_error("cannot read " + root);
  }
  return ms_since(start);
}

Row measure_search(const Bench& bench, int younger) {
  // In memory where that is possible: what a disk adds is the same for both, and would hide the difference.
  const bool in_memory = access("/dev/shm", W_OK) == 0;
  std::string folder = (in_memory ? "/dev/shm" : bench.scratch) + "/corral-bench-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("cannot make " + folder);
  const std::string root = make_proc(folder, younger);
  plain_pass(root);
  std::vector<double> searches;
  std::vector<double> yardstick;
  std::vector<double> again;
  for (int round = 0; round < bench.rounds(31, 9); ++round) {
    yardstick.push_back(plain_pass(root));
    searches.push_back(reconcile(root));
    again.push_back(plain_pass(root));
  }
  std::filesystem::remove_all(folder);
  const Comparison comparison = compare(searches, yardstick);
  Row row{{std::to_string(younger) + " of " + std::to_string(kProcesses)},
          {{"younger", json(static_cast<double>(younger))}},
          Verdict::None};
  add_comparison(row, comparison, "ms");
  const bool judged = younger < kProcesses;
  row.cells.push_back(judged ? "<= 2 x plain" : "-");
  if (judged) row.verdict = judge_ratio(comparison, kTarget, noise_floor(ratios(again, yardstick)));
  return row;
}

}  // namespace

void measure_reconcile(const Bench& bench, Results& results) {
  Section section;
  section.name = "reconcile";
  section.title = "reconcile: the search for what an earlier daemon has left, against one plain pass";
  section.note =
      "'raw' is one pass over the same 10,000 processes that reads the directory and each stat file. Only a "
      "process of\nour user that is younger than the daemon can be of it, so only of those more is read.";
  section.headers = comparison_headers("younger than the daemon");
  for (const int younger : {100, 1000, kProcesses}) section.rows.push_back(measure_search(bench, younger));
  results.add(std::move(section));
}

}  // namespace corral::bench
