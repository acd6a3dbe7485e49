#include "survey/process_table.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <limits>

#include "fake_proc.h"
#include "survey/hidden_processes.h"

namespace corral::survey {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Kind = Stream::Kind;

constexpr std::uint64_t kEver = std::numeric_limits<std::uint64_t>::max();

Process process(pid_t pid, pid_t parent, std::uint64_t start_ticks = 0) {
  Process made;
  made.pid = pid;
  made.parent = parent;
  made.start_ticks = start_ticks;
  return made;
}

ProcessTable table_of(std::vector<Process> processes, std::vector<Holding> holdings = {}) {
  return ProcessTable(std::move(processes), std::move(holdings), 1000, 100);
}

TEST(Streams, AreKnownByTheirLink) {
  EXPECT_EQ(parse_stream("pipe:[12]"), (Stream{Kind::Pipe, 12}));
  EXPECT_EQ(parse_stream("socket:[4294967295]"), (Stream{Kind::Socket, 4294967295U}));
  EXPECT_EQ(parse_stream("/dev/null").kind, Kind::Null);
  EXPECT_EQ(parse_stream("/dev/pts/3").kind, Kind::Terminal);
  EXPECT_EQ(parse_stream("/dev/tty1").kind, Kind::Terminal);
  EXPECT_EQ(parse_stream("/var/log/server.log").kind, Kind::File);
  EXPECT_EQ(parse_stream("anon_inode:[eventfd]").kind, Kind::File);
}

TEST(Streams, OfATerminalAreKnownByItsDevice) {
  for (const char* link : {"/dev/console", "/dev/tty", "/dev/ttyS0", "/dev/hvc0", "/dev/pts/0"}) {
    EXPECT_EQ(parse_stream(link), (Stream{Kind::Terminal, 0})) << link;
  }
  for (const char* link : {"/dev/pts/ptmx", "/dev/consoles", "/dev/zero", "/dev/pt", ""}) {
    EXPECT_EQ(parse_stream(link), (Stream{Kind::File, 0})) << link;
  }
}

TEST(Streams, AreNoPipeOnlyBecauseAFileIsCalledSo) {
  EXPECT_EQ(parse_stream("/tmp/pipe:[12]").kind, Kind::File);
  EXPECT_EQ(parse_stream("pipe:[]").kind, Kind::File);
  EXPECT_EQ(parse_stream("pipe:[12x]").kind, Kind::File);
  EXPECT_EQ(parse_stream("pipe:[-1]").kind, Kind::File);
  EXPECT_EQ(parse_stream("pipe:[99999999999999999999]").kind, Kind::File);
}

TEST(HidePid, IsReadFromTheOptionsOfTheMountOnTop) {
  const std::string plain = "22 27 0:21 / /proc rw,relatime - proc proc rw\n";
  const std::string hidden = "90 22 0:21 / /proc rw shared:5 - proc proc rw,gid=4,hidepid=invisible\n";
  const std::string other = "91 27 0:22 / /srv/proc rw - proc proc rw,hidepid=ptraceable\n";

  EXPECT_EQ(parse_hidepid(plain + other, "/proc").mode, HidePid::Mode::Off);
  EXPECT_EQ(parse_hidepid(plain + hidden, "/proc").mode, HidePid::Mode::ForAllButOneGroup);
  EXPECT_EQ(parse_hidepid(plain + hidden, "/proc").group, 4U);
  EXPECT_EQ(parse_hidepid(hidden + plain, "/proc").mode, HidePid::Mode::Off);
  EXPECT_EQ(parse_hidepid(other, "/srv/proc").mode, HidePid::Mode::ForAll);
  EXPECT_EQ(parse_hidepid("1 2 0:3 / /proc rw - proc proc rw,hidepid=2", "/proc").mode,
            HidePid::Mode::ForAllButOneGroup);
  EXPECT_EQ(parse_hidepid("1 2 0:3 / /proc rw - proc proc rw,hidepid=0", "/proc").mode, HidePid::Mode::Off);
}

TEST(Table, FindsByPidAndKnowsWhoIsWhoseChild) {
  const ProcessTable table = table_of({process(30, 10), process(1, 0), process(20, 10), process(10, 1)});

  ASSERT_NE(table.find(20), nullptr);
  EXPECT_EQ(table.find(20)->pid, 20);
  EXPECT_EQ(table.find(40), nullptr);
  EXPECT_THAT(table.children(10), ElementsAre(20, 30));
  EXPECT_THAT(table.children(30), IsEmpty());
  EXPECT_THAT(table.tree(1), ElementsAre(1, 10, 20, 30));
  EXPECT_THAT(table.tree(20), ElementsAre(20));
  EXPECT_THAT(table.tree(40), IsEmpty());
  EXPECT_THAT(table.ancestors(30), ElementsAre(10, 1));
  EXPECT_THAT(table.ancestors(1), IsEmpty());
}

TEST(Table, PutsParentsBeforeTheirChildrenEvenIfTheirPidsAreLarger) {
  const ProcessTable table = table_of({process(50, 1), process(40, 50), process(30, 40), process(1, 0)});

  EXPECT_THAT(table.tree(50), ElementsAre(50, 40, 30));
}

TEST(Table, ComesToAnEndWhereParentsFormARing) {
  const ProcessTable table = table_of({process(1, 3), process(2, 1), process(3, 2), process(4, 4)});

  EXPECT_THAT(table.tree(1), ElementsAre(1, 2, 3));
  EXPECT_THAT(table.ancestors(1), ElementsAre(3, 2));
  EXPECT_THAT(table.tree(4), ElementsAre(4));
  EXPECT_THAT(table.ancestors(4), IsEmpty());
}

TEST(Table, HasOneProcessPerPid) {
  const ProcessTable table = table_of({process(7, 1), process(7, 2)});

  ASSERT_EQ(table.all().size(), 1U);
  EXPECT_EQ(table.find(7)->parent, 1);
}

TEST(Table, FindsTheHoldersOfAPipe) {
  const ProcessTable table = table_of(
      {process(1, 0)}, {{9, 3, 0, false, true, false}, {8, 2, 1, false, false, true}, {9, 2, 4, true}});

  ASSERT_EQ(table.holders(9).size(), 2U);
  EXPECT_EQ(table.holders(9)[0].pid, 2);
  EXPECT_EQ(table.holders(9)[1].pid, 3);
  EXPECT_EQ(table.holders(8).size(), 1U);
  EXPECT_THAT(table.holders(7), IsEmpty());
}

TEST(Table, CountsAgeInTicksAndNeverBackwards) {
  const ProcessTable table = table_of({process(1, 0)});

  EXPECT_EQ(table.age(process(2, 1, 750)), std::chrono::milliseconds(2500));
  EXPECT_EQ(table.age(process(2, 1, 1000)), std::chrono::milliseconds(0));
  EXPECT_EQ(table.age(process(2, 1, kEver)), std::chrono::milliseconds(0));
  EXPECT_EQ(table.started(process(2, 1, 500)) - table.started(process(2, 1, 0)), std::chrono::seconds(5));
}

TEST(Table, BearsClocksThatMakeNoSense) {
  const ProcessTable table({process(1, 0)}, {}, kEver, 0);

  EXPECT_GT(table.age(process(2, 1, 0)).count(), 0);
  EXPECT_LT(table.started(process(2, 1, 0)), std::chrono::system_clock::now());
}

using ReadTable = FakeProc;

TEST_F(ReadTable, HasAllThatTheFilesSay) {
  add(1, 0, "init");
  add(42, 1, "node");
  write("42/cmdline", std::string("node\0server.js\0", 15));
  link("42/exe", "/usr/bin/node");
  link("42/cwd", "/srv/project");
  link("42/fd/0", "pipe:[100]");
  link("42/fd/1", "socket:[200]");
  link("42/fd/2", "/dev/null");
  link("42/fd/17", "pipe:[300]");
  link("42/fd/18", "/srv/file");

  const Result<ProcessTable> table = ProcessTable::read(root());

  ASSERT_TRUE(table);
  const Process* const node = table->find(42);
  ASSERT_NE(node, nullptr);
  EXPECT_THAT(node->argv, ElementsAre("node", "server.js"));
  EXPECT_EQ(node->executable, "/usr/bin/node");
  EXPECT_FALSE(node->executable_replaced);
  EXPECT_EQ(node->directory, "/srv/project");
  EXPECT_EQ(node->uid, geteuid());
  EXPECT_THAT(node->streams,
              ElementsAre(Stream{Kind::Pipe, 100}, Stream{Kind::Socket, 200}, Stream{Kind::Null, 0}));
  ASSERT_EQ(table->holders(300).size(), 1U);
  EXPECT_EQ(table->holders(300)[0].fd, 17);
  for (const std::uint64_t inode : {100U, 200U, 300U}) {
    EXPECT_TRUE(table->holders(inode)[0].reads && table->holders(inode)[0].writes) << inode;
  }
  EXPECT_TRUE(table->holders(0).empty()) << "a file connects nobody";
  EXPECT_FALSE(table->holders(100)[0].socket);
  EXPECT_TRUE(table->holders(200)[0].socket);
  EXPECT_THAT(table->find(1)->streams,
              ElementsAre(Stream{Kind::Closed}, Stream{Kind::Closed}, Stream{Kind::Closed}));
  EXPECT_EQ(table->unreadable(), 0U);
}

TEST_F(ReadTable, SaysThatTheFileOfAnExecutableIsGone) {
  add(1, 0);
  link("1/exe", "/opt/server (deleted)");
  link("1/cwd", "/srv/old (deleted)");
  add(2, 1);
  link("2/exe", "/memfd:tool (deleted)");

  const Result<ProcessTable> table = ProcessTable::read(root());

  ASSERT_TRUE(table);
  EXPECT_EQ(table->find(1)->executable, "/opt/server");
  EXPECT_TRUE(table->find(1)->executable_replaced);
  EXPECT_EQ(table->find(1)->directory, "/srv/old");
  EXPECT_EQ(table->find(2)->executable, "/memfd:tool");
  EXPECT_FALSE(table->find(2)->executable_replaced);  // it never had a name
}

TEST_F(ReadTable, LeavesOutEntriesThatAreNotProcessesOrHaveJustEnded) {
  add(1, 0);
  write("meminfo", "MemTotal: 1 kB\n");
  write("12/comm", "no stat");
  write("13/stat", "garbage");
  write("14/stat", stat_line(14, "gone before its descriptors", 1));
  write("015x/stat", stat_line(15, "a", 1));
  write("99999999999/stat", stat_line(16, "a", 1));
  add(0, 1);

  const Result<ProcessTable> table = ProcessTable::read(root());

  ASSERT_TRUE(table);
  EXPECT_EQ(table->all().size(), 1U);
}

TEST_F(ReadTable, AsksKernelThreadsAndZombiesForNothing) {
  constexpr unsigned kKernelThread = 0x00200040;
  write("1/stat", stat_line(1, "kworker", 0, 'I', kKernelThread));
  write("1/cmdline", "must not be read");
  write("2/stat", stat_line(2, "zombie", 0, 'Z'));
  write("3/stat", stat_line(3, "first thread left", 0, 'Z', 4194304, 2));

  const Result<ProcessTable> table = ProcessTable::read(root());

  ASSERT_TRUE(table);
  EXPECT_THAT(table->find(1)->argv, IsEmpty());
  EXPECT_EQ(table->find(2)->streams[0].kind, Kind::Closed);
  EXPECT_EQ(table->find(3)->streams[0].kind, Kind::Unknown);  // the other threads may have it open
}

TEST_F(ReadTable, CutsAnEndlessCommandLine) {
  add(1, 0);
  write("1/cmdline", std::string(3 << 20, 'x'));

  const Result<ProcessTable> table = ProcessTable::read(root());

  ASSERT_TRUE(table);
  ASSERT_EQ(table->find(1)->argv.size(), 1U);
  EXPECT_EQ(table->find(1)->argv[0].size(), 256U * 1024);
}

TEST_F(ReadTable, SeesThatOthersAreHiddenWhenTheFirstProcessIs) {
  add(42, 1);

  EXPECT_TRUE(ProcessTable::read(root())->others_hidden());

  add(1, 0);
  EXPECT_FALSE(ProcessTable::read(root())->others_hidden());
}

TEST_F(ReadTable, FailsWithTheWayOutWhereThereIsNoProc) {
  const Result<ProcessTable> missing = ProcessTable::read(root() + "/nowhere");
  const Result<ProcessTable> empty = ProcessTable::read(root());

  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("No such file"));
  EXPECT_THAT(missing.error().message, HasSubstr("mount -t proc"));
  ASSERT_FALSE(empty);
  EXPECT_THAT(empty.error().message, HasSubstr("no process in it"));
}

}  // namespace
}  // namespace corral::survey
