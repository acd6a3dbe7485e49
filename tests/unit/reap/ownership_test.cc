// Every doubt about whose a process is. Whatever is not certainly of the instance must not be `Ours`.
#include "reap/ownership.h"

#include <gtest/gtest.h>

namespace corral::reap {
namespace {

const std::string kCookie = "0123456789abcdef0123456789abcdef";
const std::string kOtherCookie = "fedcba9876543210fedcba9876543210";
constexpr std::uint64_t kTag = (1ULL << 61) + 4711;
constexpr uid_t kUser = 1000;

registry::DaemonRecord daemon_record() {
  registry::DaemonRecord record;
  record.id = "daemon";
  record.machine = "this-machine";
  record.boot_id = "this-boot";
  record.pid_namespace = 4026531836;
  record.process = {500, 77, 9000, kUser, "handle"};
  return record;
}

registry::InstanceRecord instance_record() {
  registry::InstanceRecord record;
  record.id = kCookie;
  record.daemon = "daemon";
  record.server = "notes";
  record.rlimit_tag = kTag;
  return record;
}

Claim claim() { return claim_of(daemon_record(), instance_record()); }

Bearer marked() {
  Bearer bearer;
  bearer.pid = 600;
  bearer.state = 'S';
  bearer.real = bearer.effective = kUser;
  bearer.start_ticks = 9500;
  bearer.cookie = kCookie;
  bearer.rlimit_tag = kTag;
  return bearer;
}

Here here() { return {"this-machine", "this-boot", 4026531836, kUser, false}; }

TEST(Ownership, EitherMarkAloneIsEnough) {
  Bearer cleared = marked();
  cleared.cookie.clear();
  Bearer lowered = marked();
  lowered.rlimit_tag = 1000;

  EXPECT_EQ(judge(marked(), claim()), Verdict::Ours);
  EXPECT_EQ(judge(cleared, claim()), Verdict::Ours);
  EXPECT_EQ(judge(lowered, claim()), Verdict::Ours);
}

TEST(Ownership, ACopiedEnvironmentIsNotAProof) {
  Bearer copied = marked();
  copied.rlimit_tag = 0;  // unlimited: it cannot be below what had a limit
  Bearer raised = marked();
  raised.rlimit_tag = kTag + 1;
  Bearer older = copied;
  older.start_ticks = 8999;

  EXPECT_EQ(judge(copied, claim()), Verdict::NotProved);
  EXPECT_EQ(judge(raised, claim()), Verdict::NotProved);
  EXPECT_EQ(judge(older, claim()), Verdict::Older);
}

TEST(Ownership, TheCookieAloneIsEnoughWhereNothingElseCanBeExpected) {
  Bearer bearer = marked();
  bearer.rlimit_tag = 0;
  registry::InstanceRecord untagged = instance_record();
  untagged.rlimit_tag = 0;
  EXPECT_EQ(judge(bearer, claim_of(daemon_record(), untagged)), Verdict::Ours);

  bearer.keeper = true;
  EXPECT_EQ(judge(bearer, claim()), Verdict::Ours);

  bearer.keeper = false;
  bearer.known = Bearer::Known::Number;
  EXPECT_EQ(judge(bearer, claim()), Verdict::Ours);
}

TEST(Ownership, ACopiedCookieOfAnotherUserIsNotOurs) {
  Bearer stranger = marked();
  stranger.real = stranger.effective = kUser + 1;
  EXPECT_EQ(judge(stranger, claim()), Verdict::OtherUser);

  Bearer set_uid = marked();
  set_uid.effective = 0;
  EXPECT_EQ(judge(set_uid, claim()), Verdict::OtherUser);
}

TEST(Ownership, ACookieSetInAProcessOlderThanTheDaemonIsNotOurs) {
  Bearer older = marked();
  older.start_ticks = 8999;

  EXPECT_EQ(judge(older, claim()), Verdict::Older);
}

TEST(Ownership, AnotherInstanceWithTheInheritedTagIsNotOurs) {
  Bearer keeper_of_another = marked();
  keeper_of_another.cookie = kOtherCookie;

  EXPECT_EQ(judge(keeper_of_another, claim()), Verdict::OtherInstance);
}

TEST(Ownership, ALivingRunWithItsOwnCookieIsNotOurs) {
  Bearer run = marked();
  run.cookie = kOtherCookie;
  run.rlimit_tag = kTag + 1;

  EXPECT_EQ(judge(run, claim()), Verdict::NotMarked);
}

TEST(Ownership, ARecycledNumberWithTheSameStartIsNotProved) {
  Bearer recycled = marked();
  recycled.cookie.clear();
  recycled.rlimit_tag = 0;
  recycled.known = Bearer::Known::Number;

  EXPECT_EQ(judge(recycled, claim()), Verdict::NotProved);
}

TEST(Ownership, NumberAndMarkTogetherAreOurs) {
  Bearer both = marked();
  both.known = Bearer::Known::Number;

  EXPECT_EQ(judge(both, claim()), Verdict::Ours);
}

TEST(Ownership, TheRecordedProcessIsOursWithoutAMark) {
  Bearer bare = marked();
  bare.cookie.clear();
  bare.rlimit_tag = 0;
  bare.known = Bearer::Known::Proved;
  EXPECT_EQ(judge(bare, claim()), Verdict::Ours);

  bare.real = kUser + 1;
  EXPECT_EQ(judge(bare, claim()), Verdict::OtherUser);
}

TEST(Ownership, NothingOfOurOwnNorTheFirstProcessIsTouched) {
  Bearer own = marked();
  own.own = true;
  own.known = Bearer::Known::Proved;
  Bearer init = marked();
  init.pid = 1;

  EXPECT_EQ(judge(own, claim()), Verdict::Own);
  EXPECT_EQ(judge(init, claim()), Verdict::Own);
}

TEST(Ownership, AZombieIsGoneAndADebuggedOneIsLeft) {
  Bearer zombie = marked();
  zombie.state = 'Z';
  Bearer debugged = marked();
  debugged.tracer = 700;

  EXPECT_EQ(judge(zombie, claim()), Verdict::Gone);
  EXPECT_EQ(judge(debugged, claim()), Verdict::Debugged);
}

TEST(Ownership, ADamagedRecordClaimsNobody) {
  Bearer plain = marked();
  plain.cookie.clear();
  for (const std::uint64_t tag : {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{1'000'000}}) {
    registry::InstanceRecord damaged = instance_record();
    damaged.rlimit_tag = tag;
    plain.rlimit_tag = tag;
    EXPECT_EQ(judge(plain, claim_of(daemon_record(), damaged)), Verdict::NotMarked) << tag;
  }
  plain.rlimit_tag = 0;
  for (const char* id :
       {"", "0123", "0123456789abcdef0123456789abcdeg", "0123456789ABCDEF0123456789ABCDEF"}) {
    registry::InstanceRecord damaged = instance_record();
    damaged.id = plain.cookie = id;
    EXPECT_EQ(judge(plain, claim_of(daemon_record(), damaged)), Verdict::NotMarked) << id;
  }
}

TEST(Ownership, OnlyTheCgroupOfTheInstanceIsItsCgroup) {
  EXPECT_TRUE(is_cgroup_of("/sys/fs/cgroup/user.slice/corral-" + kCookie, kCookie));

  EXPECT_FALSE(is_cgroup_of("/sys/fs/cgroup/user.slice", kCookie));
  EXPECT_FALSE(is_cgroup_of("/sys/fs/cgroup/corral-" + kOtherCookie, kCookie));
  EXPECT_FALSE(is_cgroup_of("/sys/fs/cgroup/corral-" + kCookie + "/..", kCookie));
  EXPECT_FALSE(is_cgroup_of("/sys/fs/cgroup/../x/corral-" + kCookie, kCookie));
  EXPECT_FALSE(is_cgroup_of("corral-" + kCookie, kCookie));
  EXPECT_FALSE(is_cgroup_of("/corral-" + kCookie, kCookie));
  EXPECT_FALSE(is_cgroup_of("/sys/fs/cgroup/corral-", ""));
}

TEST(DaemonFate, AfterAnotherBootNothingCanBeLeft) {
  Here rebooted = here();
  rebooted.boot_id = "another-boot";
  rebooted.daemon_lives = true;

  EXPECT_EQ(judge(daemon_record(), rebooted).kind, Fate::Kind::Settled);
  // A home on a network file system: it has not ended because we have not heard of its boot.
  rebooted.machine = "another-machine";
  EXPECT_EQ(judge(daemon_record(), rebooted).kind, Fate::Kind::LeftAlone);
  rebooted.machine.clear();
  EXPECT_EQ(judge(daemon_record(), rebooted).kind, Fate::Kind::Settled);
}

TEST(DaemonFate, EveryDoubtLeavesItsProcessesAlone) {
  const auto left_alone = [](const registry::DaemonRecord& record, const Here& now) {
    const Fate fate = judge(record, now);
    return fate.kind == Fate::Kind::LeftAlone && !fate.why.empty();
  };
  Here lives = here();
  lives.daemon_lives = true;
  Here container = here();
  container.pid_namespace = 4026532999;
  Here no_proc = here();
  no_proc.boot_id.clear();
  Here other_user = here();
  other_user.uid = 0;
  registry::DaemonRecord unknown = daemon_record();
  unknown.process = {};
  registry::DaemonRecord no_namespace = daemon_record();
  no_namespace.pid_namespace = 0;

  EXPECT_TRUE(left_alone(daemon_record(), lives));
  EXPECT_TRUE(left_alone(daemon_record(), container));
  EXPECT_TRUE(left_alone(daemon_record(), no_proc));
  EXPECT_TRUE(left_alone(daemon_record(), other_user));
  EXPECT_TRUE(left_alone(unknown, here()));
  EXPECT_TRUE(left_alone(no_namespace, here()));
  EXPECT_EQ(judge(daemon_record(), here()).kind, Fate::Kind::End);
}

// Its cgroup says whose it is, so neither its user nor its marks matter.
TEST(Ownership, InItsOwnCgroupOnlyADebuggerAndOurOwnLineSpareAProcess) {
  Bearer bearer;
  bearer.real = 7;
  bearer.effective = 8;
  EXPECT_EQ(protection_in_group(bearer), std::nullopt);
  bearer.tracer = 40;
  EXPECT_EQ(protection_in_group(bearer), survey::Protection::Debugger);
  bearer.own = true;
  EXPECT_EQ(protection_in_group(bearer), survey::Protection::OwnLine);
}

TEST(Ownership, TheDeadAreGoneHoweverTheKernelCallsThem) {
  for (const char state : {'Z', 'X', 'x'}) {
    Bearer dead = marked();
    dead.state = state;
    EXPECT_EQ(judge(dead, claim()), Verdict::Gone) << state;
  }
  for (const char state : {'S', 'D', 'T', '?'}) {
    Bearer living = marked();
    living.state = state;
    EXPECT_EQ(judge(living, claim()), Verdict::Ours) << state;
  }
}

TEST(Ownership, AProcessAsOldAsTheDaemonMayBeOurs) {
  Bearer bearer = marked();
  bearer.start_ticks = 9000;
  EXPECT_EQ(judge(bearer, claim()), Verdict::Ours);

  bearer.rlimit_tag = 0;
  EXPECT_EQ(judge(bearer, claim()), Verdict::NotProved);
}

TEST(Ownership, OnlyNumbersAboveOneAreProcessesOfAnybody) {
  Bearer bearer = marked();
  for (const pid_t pid : {-1, 0, 1}) {
    bearer.pid = pid;
    EXPECT_EQ(judge(bearer, claim()), Verdict::Own) << pid;
  }
  bearer.pid = 2;
  EXPECT_EQ(judge(bearer, claim()), Verdict::Ours);
}

TEST(InstanceIds, AreThirtyTwoHexadecimalDigits) {
  for (const char digit : {'0', '9', 'a', 'f', '5', 'c'}) {
    EXPECT_TRUE(is_instance_id(std::string(31, '1') + digit)) << digit;
  }
  for (const char other : {'/', ':', '`', 'g', 'A', ' ', '\0', '\xff'}) {
    EXPECT_FALSE(is_instance_id(std::string(31, '1') + other)) << other;
  }
  EXPECT_FALSE(is_instance_id(std::string(31, '1')));
  EXPECT_FALSE(is_instance_id(std::string(33, '1')));
}

TEST(DaemonFate, IsToldWithItsReason) {
  Here lives = here();
  lives.daemon_lives = true;
  EXPECT_EQ(judge(daemon_record(), lives).why, "the daemon that started them is still running (pid 500)");
  Here other_user = here();
  other_user.uid = 0;
  EXPECT_EQ(judge(daemon_record(), other_user).why,
            "it ran as user 1000; only that user's corral may end the processes that it left");
  registry::DaemonRecord first = daemon_record();
  first.process.pid = 1;
  EXPECT_EQ(judge(first, here()).kind, Fate::Kind::End) << "in a container it is the first process";
  registry::DaemonRecord unknown_boot = daemon_record();
  unknown_boot.boot_id.clear();
  EXPECT_EQ(judge(unknown_boot, here()).why,
            "it is not known whether the machine was restarted since; mount /proc");
  registry::DaemonRecord unknown_machine = daemon_record();
  unknown_machine.machine.clear();
  EXPECT_EQ(judge(unknown_machine, here()).kind, Fate::Kind::End);
}

TEST(DaemonFate, OfARecordWithoutANumberIsNotKnown) {
  registry::DaemonRecord unknown = daemon_record();
  unknown.process.pid = 0;
  EXPECT_EQ(judge(unknown, here()).kind, Fate::Kind::LeftAlone);
  EXPECT_EQ(judge(unknown, here()).why, "its record does not contain its pid, so it may still be running");
}

}  // namespace
}  // namespace corral::reap
