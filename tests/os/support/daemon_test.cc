#include "support/daemon_test.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "support/eventually.h"

namespace corral::os_tests {

Serving::~Serving() {
  if (!waited_) kill(session_.pid(), SIGTERM);
}

void Serving::signal(int signo) { kill(session_.pid(), signo); }

std::optional<int> Serving::wait() {
  const std::optional<int> code = session_.wait();
  waited_ = code.has_value();
  return code;
}

bool listens(const std::string& socket_path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_path.size() >= sizeof address.sun_path) return false;
  memcpy(address.sun_path, socket_path.data(), socket_path.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool connected = connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(fd);
  return connected;
}

void DaemonTest::SetUp() { mkdir(path("home").c_str(), 0777); }

Launch DaemonTest::command(const std::string& name, const std::vector<std::string>& words) const {
  Launch launch;
  launch.argv = {programs().corral, name, "--runtime-dir", runtime_dir()};
  launch.argv.insert(launch.argv.end(), words.begin(), words.end());
  launch.env = {"HOME=" + path("home"), "XDG_CONFIG_HOME=" + path("home"), "CORRAL_TEST_TAG=" + tag()};
  launch.uid = uid_of(User::Ordinary);
  launch.stderr_path = path("stderr-" + name);
  launch.in = Stdio::Null;
  return launch;
}

Launch DaemonTest::serve(const std::vector<std::string>& words) const {
  Launch launch = command("serve", words);
  launch.stderr_path = path("stderr");
  launch.out = Stdio::Null;
  return launch;
}

Words DaemonTest::say(const std::string& name, const std::vector<std::string>& words) const {
  const Launch launch = command(name, words);
  unlink(launch.stderr_path.c_str());
  Session session(launch);
  Words said;
  said.out = session.output_to_end();
  said.code = session.wait().value_or(-1);
  said.err = whole(launch.stderr_path);
  return said;
}

bool DaemonTest::answers() const { return listens(in_runtime_dir("corral.sock")); }

std::string DaemonTest::pid_file() const { return whole(in_runtime_dir("corral.pid")); }

pid_t DaemonTest::daemon() const { return std::atoi(pid_file().c_str()); }

bool DaemonTest::ready() const {
  return eventually([this] { return daemon() > 0 && answers(); });
}

std::string DaemonTest::whole(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

}  // namespace corral::os_tests
