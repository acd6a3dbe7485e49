// What the daemon records about itself: the event stream and its listeners (log, registry, metrics), the
// registry, and the threads that read /proc. Created before the hub, and outlives it. Must be used on the
// loop's thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/loop.h"
#include "base/unique_fd.h"
#include "base/worker.h"
#include "events/stream.h"
#include "instance/error_file.h"
#include "instance/journal.h"
#include "knowledge/manifest_store.h"
#include "observe/crash_loops.h"
#include "observe/event_reader.h"
#include "observe/failures.h"
#include "observe/metrics.h"
#include "observe/usage_meter.h"
#include "registry/sqlite_registry.h"

namespace corral::daemon {

class Records {
 public:
  /// `state` is the state directory; empty = nothing is kept.
  Records(Loop& loop, const std::string& state, std::chrono::milliseconds history);
  ~Records();

  events::Stream& events() { return events_; }
  registry::Registry& registry() { return *registry_; }
  const registry::Registry& registry() const { return *registry_; }
  observe::Metrics& metrics() { return metrics_; }
  observe::EventReader& reader() { return reader_; }
  observe::UsageMeter& meter() { return meter_; }
  Worker& worker() { return worker_; }
  /// Only for reading /proc: never waits until a process has ended.
  Worker& looking() { return looking_; }
  instance::ErrorFiles& error_files() { return error_files_; }
  instance::Journal& journal() { return journal_; }
  knowledge::ManifestStore& manifests() { return manifests_; }
  /// The record of this daemon in the registry.
  const registry::DaemonRecord& self() const { return self_; }
  /// What this daemon has lost with a damaged or older registry file, as a sentence; empty = nothing.
  const std::string& lost() const { return lost_; }
  /// Servers that die repeatedly.
  std::vector<observe::CrashLoop> crash_loops() const { return crash_loops_.now(); }
  /// How servers failed in the last minutes.
  observe::Failures& failures() { return failures_; }
  const observe::Failures& failures() const { return failures_; }
  /// Where the registry is; empty = only in memory.
  const std::string& registry_file() const { return registry_file_; }

  /// Sentences about processes that could not be ended and still exist.
  std::vector<std::string> unkillable();

  /// `task` is called when a degraded registry works again: it may name daemons that were not known before.
  void when_whole_again(Task task) { whole_again_ = std::move(task); }

  /// Records an orderly end, so that the next daemon does not look for remnants.
  void close();
  /// Whether a thread is working: the destructor would wait for it.
  bool busy() const { return worker_.busy() || looking_.busy(); }

 private:
  void handle(const events::Event& event);
  void tell_of_registry();
  void tell_of_loss(registry::Loss loss, const std::string& text);
  void remember_survivor(const events::Event& event);

  struct Unkillable {
    UniqueFd process;  // a pidfd
    std::string text;
  };

  std::string registry_file_;
  std::string lost_;                                              // see `lost`
  std::vector<std::pair<registry::Loss, std::string>> untold_{};  // from before the stream had listeners
  bool heard_ = false;                                            // the stream has listeners
  std::unique_ptr<registry::Registry> registry_;
  registry::DaemonRecord self_;
  instance::Journal journal_;
  knowledge::ManifestStore manifests_;
  instance::ErrorFiles error_files_;
  events::Stream events_;
  observe::Metrics metrics_;
  observe::CrashLoops crash_loops_;
  observe::Failures failures_;
  std::vector<Unkillable> unkillable_;
  Task whole_again_;
  Worker worker_;
  Worker looking_;  // for reading /proc: that must not wait while worker_ ends processes
  observe::UsageMeter meter_;
  observe::EventReader reader_;
};

}  // namespace corral::daemon
