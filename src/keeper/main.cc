// corral-keeper: the small static process above one server. Its owner gives it a lifeline and a plan; see
// lifeline.h and plan.h. Under another name it is the process above the daemon; see janitor.h. It is never
// started by hand.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "keeper/janitor.h"
#include "keeper/keeper.h"
#include "version.h"

namespace {

using namespace corral::keeper;

bool is_socket(int fd) {
  struct stat status {};
  return fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode);
}

/// The owner's limit may be high, and some programs iterate over all possible descriptors. The keeper lowers
/// the limit for itself; if the owner lowered its limit around the start, its other threads would be
/// affected.
void lower_open_files(std::uint64_t soft) {
  rlimit limit{};
  if (soft == 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur <= soft) return;
  limit.rlim_cur = soft;
  setrlimit(RLIMIT_NOFILE, &limit);
}

void refuse_plan() {
  Refusal refusal;
  snprintf(refusal.build, sizeof refusal.build, "%s of %s", corral::kVersion, corral::kBuildDate);
  send(kLifelineFd, &refusal, sizeof refusal, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 0 && strcmp(argv[0], kJanitorName) == 0) return run_janitor(argc, argv);
  if (!is_socket(kLifelineFd)) {
    fprintf(stderr,
            "corral-keeper %s: this program is started by corral, not by hand; try `corral run -- COMMAND`\n",
            corral::kVersion);
    return 125;
  }
  prctl(PR_SET_NAME, kKeeperName, 0, 0,
        0);  // when executed through a descriptor, the process is named after its number
  fcntl(kLifelineFd, F_SETFD, FD_CLOEXEC);
  static Plan plan;
  if (!load_plan(kPlanFd, plan)) {
    refuse_plan();
    return 125;
  }
  lower_open_files(plan.header.open_files);
  close(kPlanFd);
  if (plan.header.report == 0) close(kReportFd);
  fcntl(kReportFd, F_SETFD, FD_CLOEXEC);
  close_from(kFirstFreeFd);
  static Keeper keeper(plan);  // static: it is too large for the stack
  return keeper.run();
}
