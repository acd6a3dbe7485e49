#include "keeper/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <string>

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

}  // namespace
}  // namespace corral::keeper
