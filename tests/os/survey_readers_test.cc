// What corral learns about real processes: their descriptors, who has the other ends, and what else /proc
// tells.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/text.h"
#include "base/unique_fd.h"
#include "support/eventually.h"
#include "support/os_test.h"
#include "survey/details.h"
#include "survey/far_ends.h"

namespace corral::survey {
namespace {

using os_tests::eventually;
using os_tests::Launch;
using os_tests::Session;
using os_tests::Stdio;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

using State = FarEnd::State;

ProcessTable read_table() {
  Result<ProcessTable> table = ProcessTable::read();
  if (!table) throw std::runtime_error(table.error().message);
  return std::move(*table);
}

FarEnd ask(pid_t pid, int fd) {
  const ProcessTable table = read_table();
  const Process* const process = table.find(pid);
  return process == nullptr ? FarEnd() : far_end(table, read_unix_sockets().value(), *process, fd);
}

/// The exit status of a forked copy of the test that runs `body`.
template <class Body>
int in_child(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class SurveyReaders : public os_tests::OsTest {
 protected:
  /// A shell whose script ends by itself.
  Launch shell(const std::string& script, Stdio stdio = Stdio::Pipe) const {
    Launch launch;
    launch.argv = {"/bin/sh", "-c", script};
    launch.env = {"CORRAL_TEST_TAG=" + tag()};
    launch.in = stdio;
    launch.out = stdio;
    return launch;
  }

  /// One that has no interest in its descriptors.
  Launch deaf(Stdio stdio = Stdio::Pipe) const { return shell("exec sleep 60", stdio); }

  /// In the middle of exec a process has its new name and no arguments yet.
  static bool runs(pid_t pid, const std::string& comm) {
    return eventually([&] {
      const auto process = os_tests::process_by_pid(pid);
      if (!process || process->comm != comm) return false;
      const UniqueFd arguments(
          open(("/proc/" + std::to_string(pid) + "/cmdline").c_str(), O_RDONLY | O_CLOEXEC));
      char byte = 0;
      return arguments.valid() && read(arguments.get(), &byte, 1) == 1;
    });
  }

  static void end(Session& session) {
    os_tests::kill_now(session.pid());
    session.wait();
  }
};

/// Both things that clients use.
class FarEnds : public SurveyReaders, public testing::WithParamInterface<Stdio> {};

INSTANTIATE_TEST_SUITE_P(Each, FarEnds, testing::Values(Stdio::Pipe, Stdio::Socket),
                         [](const auto& stdio) { return stdio.param == Stdio::Pipe ? "Pipe" : "Socket"; });

TEST_P(FarEnds, AreOpenAsLongAsTheClientHoldsThem) {
  Session server(deaf(GetParam()));
  ASSERT_TRUE(runs(server.pid(), "sleep"));

  const FarEnd input = ask(server.pid(), 0);
  const FarEnd output = ask(server.pid(), 1);

  EXPECT_EQ(input.state, State::Open);
  EXPECT_THAT(input.holders, ElementsAre(getpid()));
  EXPECT_EQ(output.state, State::Open);
  EXPECT_THAT(output.holders, ElementsAre(getpid()));
  end(server);
}

TEST_P(FarEnds, AreClosedOnceTheClientLetGo) {
  Session server(deaf(GetParam()));
  ASSERT_TRUE(runs(server.pid(), "sleep"));

  server.close_stdin();
  EXPECT_EQ(ask(server.pid(), 0).state, State::Closed);
  EXPECT_EQ(ask(server.pid(), 1).state, State::Open);
  server.close_stdout();

  for (int time = 0; time < 10; ++time) {  // asking must not open them again
    EXPECT_EQ(ask(server.pid(), 0).state, State::Closed);
    EXPECT_EQ(ask(server.pid(), 1).state, State::Closed);
    EXPECT_THAT(ask(server.pid(), 0).holders, IsEmpty());
  }
  end(server);
}

TEST_P(FarEnds, AreNotHeldByChildrenThatInheritedTheServersOwnEnds) {
  Session server(shell("exec 3<&0; sleep 60 <&3 & exec sleep 60", GetParam()));
  ASSERT_TRUE(runs(server.pid(), "sleep"));
  ASSERT_TRUE(eventually([&] { return read_table().children(server.pid()).size() == 1; }));

  EXPECT_THAT(ask(server.pid(), 0).holders, ElementsAre(getpid()));
  EXPECT_THAT(ask(server.pid(), 1).holders, ElementsAre(getpid()));
  server.close_stdin();
  EXPECT_EQ(ask(server.pid(), 0).state, State::Closed);

  const ProcessTable table = read_table();
  for (const pid_t child : table.children(server.pid())) os_tests::kill_now(child);
  end(server);
}

TEST_P(FarEnds, AreHeldByAProcessThatInheritedThemFromTheClient) {
  Session server(deaf(GetParam()));
  ASSERT_TRUE(runs(server.pid(), "sleep"));
  const pid_t heir = fork();
  if (heir == 0) {
    alarm(60);
    for (;;) pause();
  }

  server.close_stdin();
  const FarEnd held = ask(server.pid(), 0);
  kill(heir, SIGKILL);
  waitpid(heir, nullptr, 0);
  const FarEnd let_go = ask(server.pid(), 0);

  EXPECT_EQ(held.state, State::Open);
  EXPECT_THAT(held.holders, ElementsAre(heir));
  EXPECT_EQ(let_go.state, State::Closed);
  end(server);
}

TEST_P(FarEnds, AreAskedWithoutAnybodyNoticing) {
  Session server(shell("read line; echo \"got:$line\"", GetParam()));
  ASSERT_TRUE(runs(server.pid(), "sh"));

  for (int time = 0; time < 50; ++time) {
    ASSERT_EQ(ask(server.pid(), 0).state, State::Open);
    ASSERT_EQ(ask(server.pid(), 1).state, State::Open);
  }
  pollfd output{server.stdout_fd(), POLLIN, 0};
  EXPECT_EQ(poll(&output, 1, 0), 0);  // neither an early answer nor the end of it
  ASSERT_EQ(write(server.stdin_fd(), "hello\n", 6), 6);

  EXPECT_EQ(server.output_to_end(), "got:hello\n");
  EXPECT_EQ(server.wait(), 0);
}

TEST_P(FarEnds, LoseNothingThatWaitsInThem) {
  Session server(shell("kill -STOP $$; read line; echo \"got:$line\"", GetParam()));
  ASSERT_EQ(write(server.stdin_fd(), "early\n", 6), 6);
  ASSERT_TRUE(eventually([&] { return os_tests::process_by_pid(server.pid())->state == 'T'; }));

  server.close_stdin();
  const FarEnd input = ask(server.pid(), 0);
  kill(server.pid(), SIGCONT);

  EXPECT_EQ(input.state, State::Closed);
  EXPECT_EQ(server.output_to_end(), "got:early\n");
}

TEST_F(SurveyReaders, KnowThatAHalfClosedSocketSaysNothingMore) {
  Session server(deaf(Stdio::Socket));
  ASSERT_TRUE(runs(server.pid(), "sleep"));

  server.half_close();

  EXPECT_EQ(ask(server.pid(), 0).state, State::Closed);
  EXPECT_EQ(ask(server.pid(), 1).state, State::Open);
  end(server);
}

TEST_F(SurveyReaders, DoNotTakeAListeningSocketForAClosedOne) {
  const UniqueFd listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr name{};
  name.sa_family = AF_UNIX;
  ASSERT_EQ(bind(listener.get(), &name, sizeof name.sa_family), 0);  // the kernel finds a name
  ASSERT_EQ(listen(listener.get(), 1), 0);
  Launch launch = deaf();
  launch.before_exec = [&] { dup2(listener.get(), 0); };
  Session server(launch);
  ASSERT_TRUE(runs(server.pid(), "sleep"));

  EXPECT_EQ(read_table().find(server.pid())->streams[0].kind, Stream::Kind::Socket);
  EXPECT_EQ(ask(server.pid(), 0).state, State::Unknown);
  end(server);
}

TEST_F(SurveyReaders, NeverOpenAnotherPipeThanTheOneThatWasSeen) {
  Session server(deaf());
  ASSERT_TRUE(runs(server.pid(), "sleep"));
  const ProcessTable table = read_table();
  Process other = *table.find(server.pid());
  server.close_stdin();
  ASSERT_EQ(far_end(table, {}, other, 0).state, State::Closed);

  other.streams[0].inode += 1;  // as if the pid belonged to somebody else by now

  EXPECT_EQ(far_end(table, {}, other, 0).state, State::Unknown);
  end(server);
}

TEST_F(SurveyReaders, LeaveNamedPipesAndTerminalsAlone) {
  ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
  Launch launch = deaf(Stdio::Null);
  launch.before_exec = [this] { dup2(open(path("fifo").c_str(), O_RDWR | O_CLOEXEC), 1); };
  Session server(launch);
  ASSERT_TRUE(runs(server.pid(), "sleep"));
  const ProcessTable table = read_table();
  const Process* const process = table.find(server.pid());

  EXPECT_EQ(process->streams[0].kind, Stream::Kind::Null);
  EXPECT_EQ(process->streams[1].kind, Stream::Kind::File);
  EXPECT_EQ(process->streams[2].kind, Stream::Kind::Closed);
  EXPECT_EQ(far_end(table, {}, *process, 0).state, State::Unknown);
  EXPECT_EQ(far_end(table, {}, *process, 1).state, State::Unknown);
  EXPECT_EQ(far_end(table, {}, *process, 2).state, State::Unknown);
  end(server);
}

TEST_F(SurveyReaders, SeeAProcessAsItIs) {
  const std::string program = path("server");
  std::filesystem::copy_file("/bin/sleep", program);
  Launch launch = deaf();
  launch.argv = {program, "60"};
  launch.before_exec = [this] { (void)!chdir(path("").c_str()); };
  Session server(launch);
  ASSERT_TRUE(runs(server.pid(), "server"));
  const Process before = *read_table().find(server.pid());

  std::filesystem::remove(program);
  const ProcessTable table = read_table();
  const Process after = *table.find(server.pid());

  EXPECT_EQ(before.parent, getpid());
  EXPECT_EQ(before.uid, geteuid());
  EXPECT_THAT(before.argv, ElementsAre(program, "60"));
  EXPECT_EQ(before.executable, program);
  EXPECT_FALSE(before.executable_replaced);
  EXPECT_EQ(before.directory + "/", path(""));
  EXPECT_EQ(after.executable, program);
  EXPECT_TRUE(after.executable_replaced);
  EXPECT_EQ(after.start_ticks, before.start_ticks);
  EXPECT_THAT(table.ancestors(server.pid()), Contains(getpid()));
  EXPECT_LE(table.age(after), table.age(*table.find(getpid())));
  EXPECT_LE(table.started(after), std::chrono::system_clock::now());
  end(server);
}

TEST_F(SurveyReaders, SeeThatAZombieHoldsNothing) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  ASSERT_TRUE(eventually([&] { return os_tests::process_by_pid(child)->state == 'Z'; }));

  const Process zombie = *read_table().find(child);
  waitpid(child, nullptr, 0);

  EXPECT_THAT(zombie.argv, IsEmpty());
  EXPECT_EQ(zombie.streams[0].kind, Stream::Kind::Closed);
  EXPECT_EQ(read_table().find(child), nullptr);
}

TEST_F(SurveyReaders, KnowTheUserOfAProcessThatHidesItsMemory) {
  if (!os_tests::running_as_root()) GTEST_SKIP() << "only root can become somebody else";
  const uid_t ordinary = *os_tests::uid_of(os_tests::User::Ordinary);

  const int seen = in_child([&] {
    os_tests::become(ordinary);
    prctl(PR_SET_DUMPABLE, 0);
    const ProcessTable table = read_table();
    const Process* const self = table.find(getpid());
    return self != nullptr && self->uid == ordinary ? 0 : 1;
  });

  EXPECT_EQ(seen, 0);
}

TEST_F(SurveyReaders, CountWhatAnOrdinaryUserMayNotLookAt) {
  if (!os_tests::running_as_root()) GTEST_SKIP() << "only root can become somebody else";
  Session server(deaf());
  ASSERT_TRUE(runs(server.pid(), "sleep"));

  const int seen = in_child([&] {
    os_tests::become(*os_tests::uid_of(os_tests::User::Ordinary));
    const ProcessTable table = read_table();
    const Process* const process = table.find(server.pid());
    if (table.unreadable() == 0 || process == nullptr) return 1;
    if (process->argv.size() != 2 || !process->executable.empty()) return 2;
    if (process->streams[0].kind != Stream::Kind::Unknown) return 3;
    if (far_end(table, read_unix_sockets().value_or(UnixSockets()), *process, 0).state != State::Unknown)
      return 4;
    const Details details = read_details(server.pid());
    return details.environment_readable || !details.environment.empty() ? 5 : 0;
  });

  EXPECT_EQ(seen, 0);
  end(server);
}

TEST_F(SurveyReaders, SayThatOthersAreHiddenOnlyToThoseFromWhomTheyAre) {
  if (!os_tests::running_as_root()) GTEST_SKIP() << "only root can mount /proc with hidepid";
  constexpr int kNoMount = 9;
  const auto hidden_from = [](std::optional<uid_t> user) {
    return in_child([user] {
      const bool mounted = unshare(CLONE_NEWNS) == 0 &&
                           mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                           mount("proc", "/proc", "proc", 0, "hidepid=2") == 0;
      if (!mounted) return kNoMount;
      if (user) os_tests::become(*user);
      return read_table().others_hidden() ? 1 : 0;
    });
  };
  const int from_root = hidden_from(std::nullopt);
  if (from_root == kNoMount) GTEST_SKIP() << "this kernel mounts no second /proc for us";

  EXPECT_EQ(from_root, 0);
  EXPECT_EQ(hidden_from(os_tests::uid_of(os_tests::User::Ordinary)), 1);
  EXPECT_FALSE(read_table().others_hidden());
}

TEST_F(SurveyReaders, RefuseTheProcOfAnotherPidNamespace) {
  if (!os_tests::running_as_root()) GTEST_SKIP() << "only root can make a PID namespace alone";
  constexpr int kNoNamespace = 9;

  const int refused = in_child([] {
    if (unshare(CLONE_NEWPID) != 0) return kNoNamespace;
    return in_child([] {
      const Result<ProcessTable> table = ProcessTable::read();
      return !table && table.error().message.find("PID namespace") != std::string::npos ? 0 : 1;
    });
  });
  if (refused == kNoNamespace) GTEST_SKIP() << "no PID namespace can be made here";

  EXPECT_EQ(refused, 0);
}

TEST_F(SurveyReaders, ReadTheDetailsOfAProcess) {
  Launch launch = deaf();
  launch.before_exec = [] {
    const rlimit limit{500'000, 500'000};
    setrlimit(RLIMIT_RTTIME, &limit);
  };
  Session server(launch);
  ASSERT_TRUE(runs(server.pid(), "sleep"));
  ASSERT_EQ(ptrace(PTRACE_SEIZE, server.pid(), nullptr, nullptr), 0);

  const Details details = read_details(server.pid());
  const Memory memory = read_memory(server.pid());

  EXPECT_EQ(details.tracer, getpid());
  EXPECT_EQ(read_details(getpid()).tracer, 0);
  EXPECT_TRUE(details.environment_readable);
  EXPECT_EQ(variable(details.environment, "CORRAL_TEST_TAG"), tag());
  EXPECT_EQ(details.rttime_limit, 500'000U);
  EXPECT_EQ(details.cgroup, read_details(getpid()).cgroup);
  EXPECT_FALSE(details.in_other_pid_namespace);
  EXPECT_GT(memory.resident, 0U);
  EXPECT_GT(memory.proportional, 0U);
  EXPECT_LE(memory.proportional, memory.resident);
  end(server);
}

}  // namespace
}  // namespace corral::survey
