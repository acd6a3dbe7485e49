#include "support/os_test.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include "support/eventually.h"

namespace corral::os_tests {

TagGuard::~TagGuard() {
  if (eventually([this] { return survivors(tag_).empty(); })) return;
  ADD_FAILURE() << "left behind by this test: " << ::testing::PrintToString(survivors(tag_));
  end_tagged(tag_);
}

TempDirectory::TempDirectory() {
  const char* const temporary = std::getenv("TMPDIR");
  path_ = std::string(temporary != nullptr ? temporary : "/tmp") + "/corral-os-XXXXXX";
  if (mkdtemp(path_.data()) == nullptr) std::abort();
  chmod(path_.c_str(), 0777);
}

TempDirectory::~TempDirectory() {
  // A destructor must not throw, and a leftover file does not mean that the test has failed.
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string OsTest::file(const std::string& name) const {
  std::ifstream stream(path(name), std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

Launch OsTest::corral(const RunLine& line) const {
  Launch launch;
  launch.argv = {programs().corral, "run"};
  if (line.level == Level::Basic) launch.argv.insert(launch.argv.end(), {"--containment", "basic"});
  if (line.level == Level::Strict) launch.argv.insert(launch.argv.end(), {"--containment", "strict"});
  launch.argv.insert(launch.argv.end(), {"--report", path("report.json")});
  launch.argv.insert(launch.argv.end(), line.options.begin(), line.options.end());
  launch.argv.push_back("--");
  if (line.command.empty()) {
    launch.argv.insert(launch.argv.end(), {programs().adversary, "--tag=" + tag()});
    launch.argv.insert(launch.argv.end(), line.server.begin(), line.server.end());
  } else {
    launch.argv.insert(launch.argv.end(), line.command.begin(), line.command.end());
  }
  launch.env = {"CORRAL_TEST_TAG=" + tag()};
  launch.uid = uid_of(line.user);
  launch.stderr_path = path("stderr");
  return launch;
}

Launch OsTest::through_client(const RunLine& line) const {
  Launch launch = corral(line);
  launch.argv.insert(launch.argv.begin(), programs().relay_client);
  return launch;
}

Launch OsTest::without_corral(const std::vector<std::string>& server_arguments) const {
  Launch launch = corral({});
  launch.argv = {programs().relay_client, programs().adversary, "--tag=" + tag()};
  launch.argv.insert(launch.argv.end(), server_arguments.begin(), server_arguments.end());
  return launch;
}

bool OsTest::has_report() const { return file("report.json").ends_with('\n'); }

Report OsTest::report() const {
  if (!eventually([this] { return has_report(); })) throw std::runtime_error("no report: " + errors());
  return parse_report(file("report.json"));
}

bool OsTest::any_alive() const {
  const int fd = open(path("alive").c_str(), O_RDWR | O_CLOEXEC);
  const bool locked = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0;
  if (fd >= 0) close(fd);
  return locked || !survivors(tag()).empty();
}

bool OsTest::all_gone() const {
  return eventually([this] { return !any_alive(); });
}

std::vector<Setting> every_setting() {
  std::vector<Setting> settings;
  for (const User user : {User::Root, User::Ordinary}) {
    for (const Level level : {Level::Auto, Level::Basic, Level::Strict}) settings.push_back({level, user});
  }
  return settings;
}

std::string name(const Setting& setting) {
  return std::string(name(setting.level)) + "As" + name(setting.user);
}

void PrintTo(const Setting& setting, std::ostream* out) { *out << name(setting); }

std::optional<std::string> why_not_here(const Setting& setting) {
  if (setting.user == User::Root && !running_as_root()) return "needs root";
  if (setting.level == Level::Strict) return why_no_pid_namespace(setting.user);
  return std::nullopt;
}

void expect_clean(const Report& report) {
  EXPECT_FALSE(report.leaked);
  EXPECT_EQ(report.proof, "echild");
  EXPECT_TRUE(report.survivors.empty());
}

}  // namespace corral::os_tests
