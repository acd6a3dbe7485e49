// The base of the tests of the daemon: a runtime directory of its own, whose name holds the tag, so that
// janitor and daemon are found by it although they keep next to nothing of an environment.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "support/os_test.h"

namespace corral::os_tests {

/// `corral serve` in the foreground, ended with the test.
class Serving {
 public:
  explicit Serving(const Launch& launch) : session_(launch) {}
  ~Serving();
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;

  pid_t janitor() const { return session_.pid(); }
  void signal(int signo);     // to the janitor, as a service manager does
  std::optional<int> wait();  // for the exit code

 private:
  Session session_;
  bool waited_ = false;
};

/// What a command said, and how it ended.
struct Words {
  int code = -1;
  std::string out;
  std::string err;
};

class DaemonTest : public OsTest {
 protected:
  void SetUp() override;

  std::string runtime_dir() const { return path(tag()); }
  std::string in_runtime_dir(const std::string& name) const { return runtime_dir() + "/" + name; }

  /// corral COMMAND --runtime-dir DIR WORD..., as the ordinary user, without a configuration.
  Launch command(const std::string& name, const std::vector<std::string>& words = {}) const;
  Launch serve(const std::vector<std::string>& words = {}) const;
  Words say(const std::string& name, const std::vector<std::string>& words = {}) const;

  bool answers() const;          // somebody accepts connections
  std::string pid_file() const;  // its text
  pid_t daemon() const;          // as the pid file says; 0 = it does not
  bool ready() const;            // eventually both

 private:
  static std::string whole(const std::string& file);
};

/// Whether somebody listens at a local socket.
bool listens(const std::string& socket);

}  // namespace corral::os_tests
