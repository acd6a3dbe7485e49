// `corral doctor` on a machine with thousands of processes, against `ps`, which reads less of each of them.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

#include "measure.h"
#include "stats.h"

namespace corral::bench {
namespace {

constexpr double kTarget = 4;  // times `ps`

/// Sleeping children, ended and reaped by the destructor, and by the kernel if we are killed.
class Crowd {
 public:
  explicit Crowd(int size) {
    for (int i = 0; i < size; ++i) {
      const pid_t pid = fork();
      if (pid < 0) break;  // the limit of processes; the measurement says how many there are
      if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(120);
        pause();
        _exit(0);
      }
      members_.push_back(pid);
    }
  }
  ~Crowd() {
    for (const pid_t pid : members_) kill(pid, SIGKILL);
    for (const pid_t pid : members_) waitpid(pid, nullptr, 0);
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  std::size_t size() const { return members_.size(); }

 private:
  std::vector<pid_t> members_;
};

double run_once(const std::string& command) {
  const Clock::time_point start = Clock::now();
  const int status = std::system((command + " >/dev/null 2>&1 </dev/null").c_str());
  if (status != 0) throw std::runtime_error("this failed, so it was not measured: " + command);
  return ms_since(start);
}

Row measure_crowd(const Bench& bench, std::size_t size) {
  const std::string doctor = "'" + bench.options.corral + "' doctor --json";
  const std::string ps = "ps -eo pid,ppid,uid,stat,args";
  std::vector<double> doctors;
  std::vector<double> yardstick;
  std::vector<double> again;
  for (int round = 0; round < bench.rounds(15, 5); ++round) {
    yardstick.push_back(run_once(ps));
    doctors.push_back(run_once(doctor));
    again.push_back(run_once(ps));
  }
  const Comparison comparison = compare(doctors, yardstick);
  const std::string name = std::to_string(size) + " more processes";
  Row row{{name}, {{"processes", json(static_cast<double>(size))}}, Verdict::None};
  add_comparison(row, comparison, "ms");
  row.cells.push_back("<= 4 x ps");
  row.verdict = judge_ratio(comparison, kTarget, noise_floor(ratios(again, yardstick)));
  return row;
}

}  // namespace

void measure_doctor(const Bench& bench, Results& results) {
  if (std::system("command -v ps >/dev/null 2>&1") != 0) return;  // the yardstick is missing
  Section section;
  section.name = "doctor";
  section.title = "doctor: a look at everything, against `ps -eo pid,ppid,uid,stat,args`";
  section.note =
      "'raw' is ps here. doctor also reads the descriptors, working directory and pipes of each process, "
      "tries\n"
      "which containment works, and writes JSON.";
  section.headers = comparison_headers("machine with");
  for (const int size : {0, 500, 5000}) {
    const Crowd crowd(size);
    section.rows.push_back(measure_crowd(bench, crowd.size()));
  }
  results.add(std::move(section));
}

}  // namespace corral::bench
