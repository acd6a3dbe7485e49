#include "support/crashed_daemon.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "keeper/janitor.h"
#include "record_file.h"
#include "support/eventually.h"
#include "support/platform.h"

namespace corral::os_tests {
namespace {

[[noreturn]] void become_janitor(const std::string& records, const std::string& tag,
                                 const std::vector<std::string>& daemon) {
  setsid();
  setenv("CORRAL_TEST_TAG", tag.c_str(), 1);
  const int lock = open((records + ".lock").c_str(), O_RDWR | O_CREAT, 0600);
  std::vector<std::string> words = {keeper::kJanitorName, records + ".d", std::to_string(lock)};
  words.insert(words.end(), daemon.begin(), daemon.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(programs().keeper.c_str(), argv.data());
  _exit(127);
}

}  // namespace

reap::RemnantRules hasty_rules() {
  reap::RemnantRules rules;
  rules.graces.term = std::chrono::milliseconds(50);
  rules.graces.kill = std::chrono::seconds(10);  // on a busy machine the killed take their time
  return rules;
}

CrashedDaemon::CrashedDaemon(std::string records, const std::string& tag, const std::string& level,
                             const Blow& blow, const std::vector<std::string>& server)
    : records_(std::move(records)) {
  std::vector<std::string> daemon = {
      CRASHING_DAEMON_BIN, records_, std::to_string(blow.call), blow.before ? "before" : "after",
      blow.victims,        level,    programs().keeper};
  daemon.insert(daemon.end(), server.begin(), server.end());
  janitor_ = fork();
  if (janitor_ == 0) become_janitor(records_, tag, daemon);
}

CrashedDaemon::~CrashedDaemon() {
  if (janitor_ <= 0) return;
  kill(janitor_, SIGTERM);
  wait_for_janitor();
}

bool CrashedDaemon::wait_for_janitor() {
  const bool gone = janitor_ <= 0 || eventually([this] { return waitpid(janitor_, nullptr, WNOHANG) != 0; });
  if (gone) janitor_ = -1;
  return gone;
}

std::vector<registry::Unfinished> CrashedDaemon::unfinished() const {
  return fakes::RecordFile(records_).unfinished("");
}

bool CrashedDaemon::reconcile() const {
  bool settled = true;
  for (const registry::Unfinished& left : unfinished()) {
    settled = reap::end_remnants(left, hasty_rules()).settled && settled;
  }
  return settled;
}

}  // namespace corral::os_tests
