#include "keeper/report.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <string>

#include "version.h"

namespace corral::keeper {
namespace {

using testing::HasSubstr;

std::string written(const Report& report) {
  const int fd = memfd_create("report", MFD_CLOEXEC);
  EXPECT_TRUE(write_report(fd, report));
  std::string text(256 * 1024, '\0');
  text.resize(static_cast<std::size_t>(pread(fd, text.data(), text.size(), 0)));
  close(fd);
  return text;
}

TEST(Report, TellsTheEndInOneLine) {
  Report report;
  memcpy(report.instance, "0123456789abcdef0123456789abcdef", kInstanceIdLength + 1);
  report.reason = Reason::ClientGone;
  report.level = {true, false};
  report.proved_empty = true;
  report.server_status_known = true;
  report.server_status = SIGTERM;
  record_ended(report, 12, "node", SIGTERM);
  record_ended(report, 13, "sh", 0);
  report.end_took = Micros(12'345);

  const std::string line = written(report);

  EXPECT_THAT(line, HasSubstr(R"("reason":"client-gone")"));
  EXPECT_THAT(line, HasSubstr(R"("exit":{"code":null,"signal":"SIGTERM"})"));
  EXPECT_THAT(line, HasSubstr(R"("survivors":[],"leaked":false)"));
  EXPECT_THAT(
      line,
      HasSubstr(R"([{"pid":12,"comm":"node","signal":"SIGTERM"},{"pid":13,"comm":"sh","signal":null}])"));
  EXPECT_THAT(line, HasSubstr(R"("ended_total":2,"signals":{"SIGTERM":1,"SIGKILL":0})"));
  EXPECT_THAT(line, HasSubstr(R"("ms":12.345)"));
  EXPECT_THAT(line, HasSubstr(R"("level":"keeper+cgroup","proof":"echild")"));
  EXPECT_EQ(line.find('\n'), line.size() - 1);
}

TEST(Report, OfAGuardSaysHowManyWereKept) {
  Report report;
  report.reason = Reason::ClientExited;
  report.level.guard = true;
  report.kept = 2;

  EXPECT_THAT(written(report), HasSubstr(R"("reason":"client-exited")"));
  EXPECT_THAT(written(report), HasSubstr(R"("kept":2,"ms")"));
  EXPECT_THAT(written(report), HasSubstr(R"("level":"guard")"));
}

TEST(Report, OfAServerHasNobodyKept) { EXPECT_EQ(written(Report()).find("kept"), std::string::npos); }

TEST(Report, EscapesTheNamesThatProcessesGiveThemselves) {
  Report report;
  record_ended(report, 1, "\"\\\n\x01\xff", 0);

  EXPECT_THAT(written(report), HasSubstr(R"("comm":"\"\\\u000a\u0001\u00ff")"));
}

TEST(Report, SurvivorsMeanALeak) {
  Report report;
  report.survivors = 1;
  report.survivor[0] = {77, "sudo", 0, Cause::Permission};

  const std::string line = written(report);

  EXPECT_THAT(
      line,
      HasSubstr(R"("survivors":[{"pid":77,"comm":"sudo","uid":0,"cause":"permission"}],"leaked":true)"));
  EXPECT_THAT(line, HasSubstr(R"("proof":"none")"));
}

TEST(Report, CountsMoreThanItLists) {
  Report report;
  for (int pid = 1; pid <= kListedProcesses + 100; ++pid)
    record_ended(report, pid, "\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01", SIGKILL);

  const std::string line = written(report);

  EXPECT_EQ(report.ended_listed, static_cast<std::uint32_t>(kListedProcesses));
  EXPECT_THAT(line, HasSubstr(R"("ended_total":1124,"signals":{"SIGTERM":0,"SIGKILL":1124})"));
}

TEST(Report, AProcessIsListedOnceWithItsLastSignal) {
  Report report;

  record_ended(report, 5, "node", 0);
  record_ended(report, 5, "node", SIGTERM);
  record_ended(report, 5, "node", SIGKILL);

  EXPECT_EQ(report.ended_total, 1U);
  EXPECT_EQ(report.sigterm_deaths, 0U);
  EXPECT_EQ(report.sigkill_deaths, 1U);
}

TEST(Report, NamesLimitsAndTerminators) {
  Report report;
  report.limits = 2;
  report.limit[0] = {LimitName::Memory, Enforcer::Watchdog, true, 1000, 2000};
  report.limit[1] = {LimitName::Cpu, Enforcer::None, false, 1500, 0};
  report.terminators = 1;
  report.terminator[0] = {TerminatorKind::OnStop, true, 3 << 8, Micros(2500)};

  const std::string line = written(report);

  EXPECT_THAT(line,
              HasSubstr(R"({"name":"memory","limit":1000,"by":"watchdog","exceeded":true,"seen":2000})"));
  EXPECT_THAT(line, HasSubstr(R"({"name":"cpu","limit":1.500,"by":"none","exceeded":false,"seen":null})"));
  EXPECT_THAT(line, HasSubstr(R"("terminators":[{"kind":"on-stop","exit":3,"ms":2.500}])"));
}

/// With two of everything that is a list.
Report full_report() {
  Report report;
  memcpy(report.instance, "0123456789abcdef0123456789abcdef", kInstanceIdLength + 1);
  report.reason = Reason::Watchdog;
  report.level.pid_namespace = true;
  report.server_status_known = true;
  report.server_status = 7 << 8;
  report.survivors = 2;
  report.survivor[0] = {77, "a", 1000, Cause::Uninterruptible};
  report.survivor[1] = {78, "b", 0, Cause::Unknown};
  record_ended(report, 1, " ~", SIGTERM);
  record_ended(report, 2, "\x1f\x7f", SIGRTMAX);
  report.limits = 2;
  report.limit[0] = {LimitName::Pids, Enforcer::Cgroup, true, 8, 1};
  report.limit[1] = {LimitName::Cpu, Enforcer::None, false, 50, 0};
  report.terminators = 2;
  report.terminator[0] = {TerminatorKind::Container, true, SIGSEGV, Micros(1)};
  report.terminator[1] = {TerminatorKind::OnStop, false, 0, Micros(10'000'000)};
  report.end_took = Micros(999);
  report.uptime = Micros(60'000'000);
  return report;
}

TEST(Report, IsThisLineAndNoOther) {
  EXPECT_EQ(written(full_report()),
            std::string(R"({"schema":1,"version":")") + kVersion +
                R"(","instance":"0123456789abcdef0123456789abcdef","reason":"watchdog",)"
                R"("exit":{"code":7,"signal":null},)"
                R"("survivors":[{"pid":77,"comm":"a","uid":1000,"cause":"uninterruptible"},)"
                R"({"pid":78,"comm":"b","uid":0,"cause":"unknown"}],"leaked":true,)"
                R"("ended":[{"pid":1,"comm":" ~","signal":"SIGTERM"},)"
                R"({"pid":2,"comm":"\u001f\u007f","signal":"SIGRT"}],)"
                R"("ended_total":2,"signals":{"SIGTERM":1,"SIGKILL":0},"ms":0.999,"uptime_ms":60000.000,)"
                R"("level":"pidns","proof":"none",)"
                R"("limits":[{"name":"pids","limit":8,"by":"cgroup","exceeded":true,"seen":1},)"
                R"({"name":"cpu","limit":0.050,"by":"none","exceeded":false,"seen":null}],)"
                R"("terminators":[{"kind":"container","exit":null,"ms":0.001},)"
                R"({"kind":"on-stop","exit":null,"ms":10000.000}]})"
                "\n");
}

TEST(Report, OfAServerWhoseEndIsNotKnownHasNeitherCodeNorSignal) {
  Report report;
  report.server_status = SIGKILL;
  EXPECT_THAT(written(report), HasSubstr(R"("exit":{"code":null,"signal":null})"));

  report.server_status = 3 << 8;
  EXPECT_THAT(written(report), HasSubstr(R"("exit":{"code":null,"signal":null})"));
}

TEST(Report, ThatCannotBeWrittenSaysSo) {
  const int read_only = open("/dev/null", O_RDONLY | O_CLOEXEC);
  EXPECT_FALSE(write_report(read_only, Report()));
  close(read_only);
}

TEST(Report, StartsWithNothing) {
  Report report;
  EXPECT_EQ(report.reason, Reason::NotStarted);
  EXPECT_FALSE(report.proved_empty || report.server_status_known);
  for (const std::uint32_t count :
       {report.ended_total, report.ended_listed, report.sigterm_deaths, report.sigkill_deaths,
        report.survivors, report.kept, report.limits, report.terminators}) {
    EXPECT_EQ(count, 0U);
  }
  EXPECT_EQ(report.end_took + report.uptime, Micros(0));
  EXPECT_EQ(report.server_status, 0);
}

TEST(Report, ListsExactlyAsManyAsFitAndFindsTheLastOfThemAgain) {
  Report report;
  for (int pid = 1; pid <= kListedProcesses; ++pid) record_ended(report, pid, "x", 0);
  ASSERT_EQ(report.ended_listed, static_cast<std::uint32_t>(kListedProcesses));

  record_ended(report, kListedProcesses, "x", SIGKILL);
  EXPECT_EQ(report.ended_total, static_cast<std::uint32_t>(kListedProcesses));
  EXPECT_EQ(report.ended[kListedProcesses - 1].signal, SIGKILL);
  EXPECT_EQ(report.sigkill_deaths, 1U);

  record_ended(report, kListedProcesses + 1, "x", SIGTERM);
  EXPECT_EQ(report.ended_total, static_cast<std::uint32_t>(kListedProcesses) + 1);
  EXPECT_EQ(report.ended_listed, static_cast<std::uint32_t>(kListedProcesses));
}

TEST(Report, HasAWordForEveryReasonLevelAndCause) {
  EXPECT_STREQ(reason_name(Reason::NotStarted), "not-started");
  EXPECT_STREQ(reason_name(Reason::StdinClosed), "stdin-closed");
  EXPECT_STREQ(reason_name(Reason::StdoutClosed), "stdout-closed");
  EXPECT_STREQ(reason_name(Reason::Signal), "signal");
  EXPECT_STREQ(reason_name(Reason::ServerExited), "server-exited");
  EXPECT_STREQ(reason_name(Reason::OwnerGone), "owner-gone");
  EXPECT_STREQ(reason_name(Reason::KeeperLost), "keeper-lost");
  EXPECT_STREQ(level_name({false, false, false}), "keeper");
  EXPECT_STREQ(level_name({true, false, false}), "keeper+cgroup");
  EXPECT_STREQ(level_name({false, true, false}), "pidns");
  EXPECT_STREQ(level_name({true, true, false}), "pidns+cgroup");
  EXPECT_STREQ(level_name({true, true, true}), "guard");
  EXPECT_STREQ(cause_name(Cause::Permission), "permission");
  EXPECT_STREQ(cause_name(Cause::Uninterruptible), "uninterruptible");
  EXPECT_STREQ(cause_name(Cause::Unknown), "unknown");
}

}  // namespace
}  // namespace corral::keeper
