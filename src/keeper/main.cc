// corral-keeper: the small static process above one server. Its owner gives it a life line and a plan; see
// lifeline.h and plan.h. By another name it is the one above the daemon; see janitor.h. Nobody starts it by
// hand.
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

/// The owner's own may be high, and some programs walk through all of it. Here and not in the owner around
/// the start: there another thread would meet the lowered limit.
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
    fprintf(stderr, "corral-keeper %s: started by corral, not by hand; try `corral run -- COMMAND`\n",
            corral::kVersion);
    return 125;
  }
  prctl(PR_SET_NAME, kKeeperName, 0, 0, 0);  // executed through a descriptor, we are called by its number
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
  static Keeper keeper(plan);  // static: it is large, and the stack is small
  return keeper.run();
}
