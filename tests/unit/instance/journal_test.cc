#include "instance/journal.h"

#include <gtest/gtest.h>

namespace corral::instance {
namespace {

class WrittenDown final : public registry::Registry {
 public:
  const std::string& degraded() const override { return none_; }
  void when_degraded(std::function<void()>) override {}
  void begin(const registry::DaemonRecord&) override {}
  void end(const std::string&) override {}
  std::vector<registry::Unfinished> unfinished(const std::string&) override { return {}; }
  void forget(const std::string&) override {}
  void journal(const registry::InstanceRecord& instance) override { journaled.push_back(instance); }
  void instance_ended(const std::string& id, std::int64_t, const std::string& cause) override {
    ended.push_back(id + " " + cause);
  }
  void keep(const registry::SessionRecord&) override {}
  void keep(const events::Event&) override {}
  void flush() override {}
  std::vector<events::Event> events_after(std::uint64_t, std::size_t) override { return {}; }
  std::uint64_t last_event() override { return 0; }
  std::vector<registry::SessionRecord> past_sessions(std::size_t) override { return {}; }
  std::optional<std::string> manifest(const std::string&) override { return std::nullopt; }
  void keep_manifest(const std::string&, const std::string&, const std::string&) override {}

  std::vector<registry::InstanceRecord> journaled;
  std::vector<std::string> ended;

 private:
  std::string none_;
};

proc::ProcessTree tree_called(const std::string& instance) {
  proc::ProcessTree::Parts parts;
  parts.instance = instance;
  return proc::ProcessTree(std::move(parts));
}

TEST(Journal, KeepsWhatWasSaidAtFirstWhenItIsCompleted) {
  WrittenDown registry;
  Journal journal(registry, "d1");

  journal.about_to_start({"i1", "/cgroup/corral-i1", 4711, {"/tmp/folder", "docker"}}, "notes");
  journal.runs(tree_called("i1"), 0);

  ASSERT_EQ(registry.journaled.size(), 2U);
  const registry::InstanceRecord& first = registry.journaled[0];
  EXPECT_EQ(first.server + first.daemon + first.cgroup, "notesd1/cgroup/corral-i1");
  EXPECT_EQ(first.rlimit_tag, 4711U);
  EXPECT_EQ(first.container, (std::vector<std::string>{"/tmp/folder", "docker"}));
  EXPECT_EQ(registry.journaled[1], first);
}

TEST(Journal, TellsOfAnEndOnceAndOnlyOfWhatItKnows) {
  WrittenDown registry;
  Journal journal(registry, "d1");
  journal.about_to_start({"i1", "", 0}, "notes");

  journal.ended("i1", "idle");
  journal.ended("i1", "again");
  journal.ended("i2", "never-started");
  journal.runs(tree_called("i1"), 0);

  EXPECT_EQ(registry.ended, std::vector<std::string>{"i1 idle"});
  EXPECT_EQ(registry.journaled.size(), 1U);
  EXPECT_TRUE(journal.open().empty());
}

TEST(Journal, RecordsNoProcessThatIsNotBelowTheKeeper) {
  WrittenDown registry;
  Journal journal(registry, "d1");
  journal.about_to_start({"i1", "", 0}, "notes");

  journal.runs(tree_called("i1"), getpid());  // runs, but its parent is not one of our keepers

  EXPECT_EQ(registry.journaled.back().process, registry::ProcessFacts{});
}

TEST(Journal, KnowsThisProcess) {
  const registry::DaemonRecord record = record_of_this_process("1.2.3");

  EXPECT_EQ(record.process.pid, getpid());
  EXPECT_GT(record.process.start_ticks, 0U);
  EXPECT_FALSE(record.boot_id.empty());
  EXPECT_NE(record.pid_namespace, 0U);
  EXPECT_NE(record.id, record_of_this_process("1.2.3").id);
}

}  // namespace
}  // namespace corral::instance
