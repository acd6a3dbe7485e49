// The keeper holds one server: it starts the server, watches for the end of the session, ends the process
// tree, proves that it is gone and reports to its owner. It outlives its owner to do so, and exits only when
// it has no child left.
#pragma once

#include <sys/types.h>

#include "keeper/ending.h"
#include "keeper/keepers_below.h"
#include "keeper/lifeline.h"
#include "keeper/namespace.h"
#include "keeper/plan.h"
#include "keeper/sweep.h"
#include "keeper/watchdog.h"

namespace corral::keeper {

class Keeper {
 public:
  /// `plan` must outlive the keeper. The object is large: keep it in static memory.
  explicit Keeper(Plan& plan);
  /// Runs the session to its end and returns the exit code of the keeper process. Call once.
  int run();

 private:
  // Starting.
  void start();
  LaunchFailure launch();
  void read_launch_line();
  void look_at_launch_line();
  void note_server();
  void start_without_cgroup();
  void fail_start(const LaunchFailure& failure);
  void watch_owner();

  // Waiting.
  void wait_for_end();
  int next_wake() const;
  void read_signals();
  void read_lifeline();
  void read_init_line();
  void signal_server(int signo);
  void look_at_pipes();
  void look_at_stdin(short events);
  void look_at_stdout(short events);
  void look_at_limits();
  void look_at_children();
  Ending::Input input() const;
  Ending::Below below(Micros at) const;

  // Ending.
  void act(Ending::Action action);
  void terminate_tree();
  void kill_all_but_keepers();
  void kill_tree();
  void list_at_the_end();
  void list_namespace(int signal);
  void let_go_of_client();
  void finish();
  void record_server();
  void write_report_line();
  void read_cgroup_limits();
  void linger();

  void tell(Event::Kind kind);

  Plan& plan_;
  Report report_;
  Event event_{};
  Ending ending_;
  Sweep sweep_;
  LimitWatchdog watchdog_;
  pid_t server_ = 0;  // 0 inside a namespace, where its pid has no meaning outside
  NamespaceInit init_;
  int signals_ = -1;
  int owner_ = -1;
  int launch_line_ = -1;  // open until exec has succeeded or failed
  bool owner_reachable_ = true;
  bool stdin_open_ = false;
  bool stdout_open_ = false;
  bool server_gone_ = false;
  bool empty_ = false;
  bool gave_up_ = false;
  bool start_failed_ = false;
  Micros started_{0};
  Micros next_look_{0};
  FileId helper_;        // the file that this process executes; keepers below usually execute it too
  Micros listed_at_{0};  // when the processes of the namespace were last listed
  EndedProcess
      seen_{};  // the server inside the namespace, as it looked at its start; pid 0 = it was not seen
};

}  // namespace corral::keeper
