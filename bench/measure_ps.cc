// What `corral ps` and `corral top` ask of /proc, on a made-up one with 10,000 processes, against the least
// that anyone has to do who wants to know the parent of each: one pass that reads every stat.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>

#include "measure.h"
#include "stats.h"
#include "survey/tree_usage.h"

namespace corral::bench {
namespace {

constexpr double kMostPasses = 2;
constexpr int kCrowdSize = 10000;
constexpr int kTreeCount = 10;
constexpr int kTreeSize = 5;
constexpr int kFirstKeeper = 1001;  // the first of 6 pids: a keeper, and a chain below it

void write_process(const std::string& proc, int pid, int parent) {
  const std::string directory = proc + "/" + std::to_string(pid);
  if (mkdir(directory.c_str(), 0755) != 0) throw std::runtime_error("cannot create " + directory);
  // As long as the kernel writes it.
  std::ofstream(directory + "/stat") << pid << " (server) S " << parent
                                     << " 1 1 0 -1 4194304 12345 678 0 0 123 45 0 0 20 0 11 0 123456 "
                                        "1234567890 12345 18446744073709551615 94123456789000 94123456790000 "
                                        "140721234567000 0 0 0 0 4096 17642 0 0 0 17 3 0 0 0 0 0 "
                                        "94123456791000 94123456792000 94123456793000 140721234568000 "
                                        "140721234568100 140721234568100 140721234569000 0\n";
  std::ofstream(directory + "/status") << "Name:\tserver\nVmRSS:\t  54321 kB\nVmSwap:\t    123 kB\n";
}

std::string made_up_proc(const std::string& scratch) {
  std::string proc = scratch + "/proc";
  if (mkdir(proc.c_str(), 0755) != 0) throw std::runtime_error("cannot create " + proc);
  for (int pid = 1; pid <= kCrowdSize; ++pid) {
    const int place = pid - kFirstKeeper;
    const bool below = place >= 0 && place < kTreeCount * (kTreeSize + 1) && place % (kTreeSize + 1) != 0;
    write_process(proc, pid, below ? pid - 1 : 1);
  }
  return proc;
}

double plain_pass(const std::string& proc) {
  const Clock::time_point start = Clock::now();
  DIR* const directory = opendir(proc.c_str());
  if (directory == nullptr) throw std::runtime_error("cannot open " + proc);
  std::size_t bytes = 0;
  while (const dirent* entry = readdir(directory)) {
    if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
    const int file = openat(dirfd(directory), (std::string(entry->d_name) + "/stat").c_str(), O_RDONLY);
    if (file < 0) continue;
    char text[4096];
    const ssize_t got = read(file, text, sizeof text);
    if (got > 0) bytes += static_cast<std::size_t>(got);
    close(file);
  }
  closedir(directory);
  if (bytes < static_cast<std::size_t>(kCrowdSize)) throw std::runtime_error("the pass read too little");
  return ms_since(start);
}

double measured_pass(const std::string& proc) {
  std::vector<pid_t> keepers;
  for (int i = 0; i < kTreeCount; ++i) keepers.push_back(kFirstKeeper + i * (kTreeSize + 1));
  const Clock::time_point start = Clock::now();
  const auto trees = survey::measure_trees(keepers, proc);
  const double took = ms_since(start);
  if (trees.size() != keepers.size()) throw std::runtime_error("measure_trees misses trees");
  for (const auto& [keeper, tree] : trees) {
    if (tree.processes.size() != kTreeSize || tree.memory == 0) {
      throw std::runtime_error("measure_trees is wrong about a tree");
    }
  }
  return took;
}

}  // namespace

void measure_ps(const Bench& bench, Results& results) {
  const std::string proc = made_up_proc(bench.scratch);
  plain_pass(proc);  // from here on everything is in the cache
  std::vector<double> passes;
  std::vector<double> measured;
  std::vector<double> again;
  for (int round = 0; round < bench.rounds(15, 5); ++round) {
    passes.push_back(plain_pass(proc));
    measured.push_back(measured_pass(proc));
    again.push_back(plain_pass(proc));
  }
  Section section;
  section.name = "ps";
  section.title = "ps: 10 trees among 10,000 processes, against one plain pass over them";
  section.note = "'raw' is the plain pass: readdir, and each PID/stat opened and read.";
  section.headers = comparison_headers("look");
  const Comparison comparison = compare(measured, passes);
  Row row{{"usage of 10 trees"}, {{"processes", json(kCrowdSize)}}, Verdict::None};
  add_comparison(row, comparison, "ms");
  row.cells.push_back("<= 2 x pass");
  row.verdict = judge_ratio(comparison, kMostPasses, noise_floor(ratios(again, passes)));
  section.rows.push_back(std::move(row));
  results.add(std::move(section));
}

}  // namespace corral::bench
