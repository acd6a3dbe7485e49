// Which client a server serves, or served: by its pipes, its ancestors and its process group, and for a
// client that has exited by the traces that it left. Pure. Used by Judge, once per server.
#pragma once

#include "survey/marks.h"
#include "survey/survey.h"

namespace corral::survey {

class Attribution {
 public:
  Attribution(const Snapshot& snapshot, const RunningClients& clients, const Marks& marks)
      : snapshot_(snapshot), table_(snapshot.processes), clients_(clients), marks_(marks) {}

  /// Fills in the client, the evidence for it and the cause of an orphan. `speaker` is the process of the
  /// tree that shows what it is; `ends` are its pipes, null if it has none.
  void attribute(Server& server, pid_t speaker, const FarEnds* ends) const;

  /// `known` is null for a program that is not a known client.
  Client describe(pid_t pid, const known::KnownClient* known) const;

 private:
  bool by_pipes(Server& server, const FarEnds& ends) const;
  bool by_reader(Server& server, const FarEnds& ends) const;
  bool by_parent(Server& server) const;
  bool by_group(Server& server) const;
  bool by_unknown_holder(Server& server, const FarEnds& ends) const;
  void by_traces(Server& server, pid_t speaker) const;
  void by_configuration(Server& server) const;

  const Snapshot& snapshot_;
  const ProcessTable& table_;
  const RunningClients& clients_;
  const Marks& marks_;
};

}  // namespace corral::survey
