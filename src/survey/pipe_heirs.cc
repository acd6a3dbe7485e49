#include "survey/pipe_heirs.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "keeper/kernel.h"
#include "known/server_command.h"
#include "proc/identity.h"
#include "survey/survey.h"

namespace corral::survey {
namespace {

enum class Side : std::uint8_t { Writes, Reads };

std::vector<pid_t> holders_opposite(const ProcessTable& table, std::uint64_t own, Side side,
                                    const UnixSockets* unix_sockets) {
  std::vector<pid_t> pids;
  const auto socket = unix_sockets == nullptr ? UnixSockets::const_iterator() : unix_sockets->find(own);
  const bool is_socket = unix_sockets != nullptr && socket != unix_sockets->end();
  if (is_socket && socket->second.peer == 0) return pids;
  for (const Holding& holding : table.holders(is_socket ? socket->second.peer : own)) {
    const bool has_it = holding.socket ? is_socket : side == Side::Writes ? holding.writes : holding.reads;
    if (has_it && (pids.empty() || pids.back() != holding.pid)) pids.push_back(holding.pid);
  }
  std::sort(pids.begin(), pids.end());
  return pids;
}

bool is_client(const Process& process, uid_t user) {
  if (process.uid != user || process.argv.empty()) return false;
  return recognise_client(process, known::understand(process.argv, process.executable, process.directory)) !=
         nullptr;
}

/// The very process of the table, which may have exited meanwhile.
UniqueFd open_same(const Process& process) {
  UniqueFd pidfd(keeper::pidfd_open(process.pid));
  if (!pidfd.valid()) return pidfd;
  const Result<proc::Identity> identity = proc::identify(pidfd.get());
  return identity && identity->start_ticks == process.start_ticks ? std::move(pidfd) : UniqueFd();
}

}  // namespace

std::vector<pid_t> clients_at(const ProcessTable& table, const PipeEnds& ends,
                              const UnixSockets* unix_sockets, uid_t user) {
  const std::vector<pid_t> writers = holders_opposite(table, ends.input, Side::Writes, unix_sockets);
  const std::vector<pid_t> readers = holders_opposite(table, ends.output, Side::Reads, unix_sockets);
  std::vector<pid_t> both;
  std::set_intersection(writers.begin(), writers.end(), readers.begin(), readers.end(),
                        std::back_inserter(both));
  std::erase_if(both, [&](pid_t pid) {
    const Process* const process = table.find(pid);
    return process == nullptr || !is_client(*process, user);
  });
  return both;
}

std::vector<UniqueFd> find_heirs(const std::vector<PipeEnds>& sessions) {
  std::vector<UniqueFd> heirs(sessions.size());
  const Result<ProcessTable> table = ProcessTable::read();
  if (!table) return heirs;
  const std::optional<UnixSockets> unix_sockets = read_unix_sockets();
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    const std::vector<pid_t> clients =
        clients_at(*table, sessions[i], unix_sockets ? &*unix_sockets : nullptr, geteuid());
    if (clients.size() == 1) heirs[i] = open_same(*table->find(clients.front()));
  }
  return heirs;
}

}  // namespace corral::survey
