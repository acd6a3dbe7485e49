// A daemon with one server, run by the real janitor, that is struck by SIGKILL at the n-th call of its
// registry, before or after the call; its janitor and its keepers with it, as the test wishes. Those that are
// not hit go on as they always do.
//
// crashing_daemon RECORDS CALL before|after VICTIMS LEVEL KEEPER SERVER... [@janitor LOCK LIFELINE]
// VICTIMS: letters of "d" daemon, "j" janitor, "k" keepers. CALL 0: never.
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/loop.h"
#include "instance/children.h"
#include "instance/instance.h"
#include "instance/journal.h"
#include "keeper/janitor.h"
#include "keeper/proc_fs.h"
#include "proc/keeper_spawner.h"
#include "record_file.h"

namespace corral::fakes {
namespace {

struct Blow {
  int call = 0;
  bool before = false;
  std::string victims;
};

/// Everybody at once, ourselves last.
void strike(const std::string& victims) {
  if (victims.find('j') != std::string::npos) kill(getppid(), SIGKILL);
  if (victims.find('k') != std::string::npos) {
    std::array<pid_t, 64> children{};
    const std::size_t count = keeper::own_children(children);
    for (std::size_t i = 0; i < count; ++i) kill(children[i], SIGKILL);
  }
  if (victims.find('d') != std::string::npos) kill(getpid(), SIGKILL);
}

class CrashingRegistry final : public RecordFile {
 public:
  CrashingRegistry(const std::string& path, Blow blow) : RecordFile(path), blow_(std::move(blow)) {}

  void begin(const registry::DaemonRecord& daemon) override {
    around([&] { RecordFile::begin(daemon); });
  }
  void journal(const registry::InstanceRecord& instance) override {
    around([&] { RecordFile::journal(instance); });
  }
  void flush() override {
    around([&] { RecordFile::flush(); });
  }
  void instance_ended(const std::string& id, std::int64_t ended_ms, const std::string& cause) override {
    around([&] { RecordFile::instance_ended(id, ended_ms, cause); });
  }
  void end(const std::string& daemon) override {
    around([&] { RecordFile::end(daemon); });
  }

 private:
  template <class Call>
  void around(Call call) {
    const bool now = ++calls_ == blow_.call;
    if (now && blow_.before) strike(blow_.victims);
    call();
    if (now && !blow_.before) strike(blow_.victims);
  }

  Blow blow_;
  int calls_ = 0;
};

class Daemon final : public instance::Instance::Events {
 public:
  Daemon(RecordFile& records, std::string keeper)
      : records_(records), spawner_(std::move(keeper)), children_(loop_), glance_(loop_) {}

  int run(const proc::LaunchSpec& spec) {
    const registry::DaemonRecord self = instance::record_of_this_process("0");
    records_.begin(self);
    instance::Journal journal(records_, self.id);
    journal_ = &journal;
    auto started = instance::Instance::start(loop_, spawner_, spec, 1U << 20U, *this, {&journal, "victim"});
    if (!started) return 1;
    instance_ = std::move(*started);
    children_.started(instance_->keeper());
    instance_->send(std::string_view(R"({"id":1,"method":"pid"})"));
    look();
    loop_.run();
    records_.end(self.id);
    return 0;
  }

  void on_opened() override {}
  void on_message(const wire::Message&) override {}
  void on_lost_answer(const instance::LostAnswer&) override {}
  void on_error_output(std::string_view) override {}
  void on_drained() override {}
  void on_server_lost(const std::string&) override { glance_.cancel(); }
  void on_ended(const instance::TreeEnd& ending) override {
    if (!ending.keeper_lost) return finish(ending.proved_empty);
    children_.end_orphans_of(instance_->keeper(), [this](instance::Children::Tree tree) {
      finish(tree == instance::Children::Tree::ProvedGone);
    });
  }

 private:
  /// Its answer is not JSON-RPC, so it is counted and dropped; by then its tree is in place.
  void look() {
    glance_.start(std::chrono::milliseconds(1), [this] {
      if (instance_->counters().lines_dropped == 0 || *instance_->level() == '\0') return look();
      records_.flush();
      instance_->stop(instance::Instance::Haste::Now);
    });
  }

  void finish(bool proved) {
    if (proved) journal_->ended(instance_->id().text(), "stopped");
    loop_.stop();
  }

  Loop loop_;
  RecordFile& records_;
  proc::KeeperSpawner spawner_;
  instance::Children children_;
  Timer glance_;
  std::unique_ptr<instance::Instance> instance_;
  instance::Journal* journal_ = nullptr;
};

proc::Containment containment_of(const std::string& level) {
  if (level == "strict") return proc::Containment::Strict;
  return level == "basic" ? proc::Containment::Basic : proc::Containment::Auto;
}

int crash(std::vector<std::string> words) {
  constexpr std::size_t kServer = 6;
  while (!words.empty() && words.back() != keeper::kUnderJanitor) words.pop_back();
  if (words.size() < kServer + 2) return 2;
  words.pop_back();
  alarm(60);
  CrashingRegistry records(words[0], {std::stoi(words[1]), words[2] == "before", words[3]});
  proc::LaunchSpec spec;
  spec.containment = containment_of(words[4]);
  spec.argv.assign(words.begin() + kServer, words.end());
  for (char** variable = environ; *variable != nullptr; ++variable) spec.environment.emplace_back(*variable);
  spec.term_grace = std::chrono::milliseconds(50);
  return Daemon(records, words[5]).run(spec);
}

}  // namespace
}  // namespace corral::fakes

int main(int argc, char** argv) { return corral::fakes::crash({argv + 1, argv + argc}); }
