// What /proc says about the processes of one test. A test finds its own by a random tag, which it puts into
// the environment of whatever it starts and into the arguments of the adversary; never by name.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace corral::os_tests {

struct Process {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  char state = '?';
  std::string comm;
};

// Shown by GoogleTest when an assertion on a list of processes fails.
void PrintTo(const Process& process, std::ostream* out);

std::string new_tag();

std::optional<Process> process_by_pid(pid_t pid);

// Living processes that carry the tag, by one pass over /proc. Zombies have
// neither environment nor arguments.
std::vector<Process> tagged(const std::string& tag);

// The same, empty only if three passes in a row find nothing: a process that changes its pid all the time can
// hide from one pass.
std::vector<Process> survivors(const std::string& tag);

// SIGKILL to all tagged processes until none is left, each through a pidfd whose tag was
// read after opening it.
void end_tagged(const std::string& tag);

// The processes of one `corral run` session.
std::optional<Process> find_keeper(const std::string& tag, pid_t outer);
std::optional<Process> find_server(const std::string& tag);

std::string link_of(pid_t pid, int fd);  // what one of its descriptors is, e.g. "pipe:[123]"

bool is_gone(pid_t pid);  // not even a zombie

// Sends SIGKILL to a process that may end at any moment. True if it was still there.
bool kill_now(pid_t pid);

}  // namespace corral::os_tests
