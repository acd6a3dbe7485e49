// The base of every test here: a tag that finds the processes of this test, a directory that the ordinary
// user may write to, and the claim, checked after each test, that nothing with the tag is left.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/platform.h"
#include "support/processes.h"
#include "support/report.h"
#include "support/session.h"

namespace corral::os_tests {

// One `corral run` command line. The server is the adversary unless a command is given.
struct RunLine {
  Level level = Level::Auto;
  User user = User::Ordinary;
  std::vector<std::string> options = {};
  std::vector<std::string> server = {};   // arguments of the adversary
  std::vector<std::string> command = {};  // instead of the adversary
};

// Fixture part that ends what a test left behind and says so. Also used for a second tag within a test.
class TagGuard {
 public:
  TagGuard() : tag_(new_tag()) {}
  ~TagGuard();
  TagGuard(const TagGuard&) = delete;
  TagGuard& operator=(const TagGuard&) = delete;

  const std::string& tag() const { return tag_; }

 private:
  std::string tag_;
};

// A directory that every user may write to, removed with all that is in it.
class TempDirectory {
 public:
  TempDirectory();
  ~TempDirectory();
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class OsTest : public ::testing::Test {
 protected:
  const std::string& tag() const { return guard_.tag(); }
  std::string path(const std::string& name) const { return directory_.path() + '/' + name; }
  std::string file(const std::string& name) const;  // its contents, empty if there is none

  Launch corral(const RunLine& line) const;                                       // the test is the client
  Launch through_client(const RunLine& line) const;                               // a relay_client is
  Launch without_corral(const std::vector<std::string>& server_arguments) const;  // a relay_client, no corral

  std::string errors() const { return file("stderr"); }
  bool has_report() const;
  Report report() const;  // waits for it

  std::vector<Process> processes() const { return tagged(tag()); }
  // Pass this to an adversary whose processes may hide from a scan of /proc.
  std::string alive_lock() const { return "--alive-lock=" + path("alive"); }
  bool any_alive() const;  // by tag, or by the lock above
  bool all_gone() const;   // eventually not

 private:
  TempDirectory directory_;  // outlives the processes that write into it
  TagGuard guard_;
};

// {Root, Ordinary} x {Auto, Basic, Strict}
struct Setting {
  Level level;
  User user;
};

void PrintTo(const Setting& setting, std::ostream* out);

std::vector<Setting> every_setting();
std::string name(const Setting& setting);

// Why this test cannot run here; for GTEST_SKIP.
std::optional<std::string> why_not_here(const Setting& setting);

// The tree is gone, proved by the kernel.
void expect_clean(const Report& report);

}  // namespace corral::os_tests
