// One program under test as its client sees it: started with the client's pipes, asked, and ended in one of
// the many ways in which clients do that. The test process is the client here; to kill the client instead,
// start the relay_client in between (OsTest::through_client).
#pragma once

#include <sys/types.h>

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace corral::os_tests {

enum class Stdio { Pipe, Socket, Null, Closed, Terminal };

class Terminal;

// How a client starts a program: plain data, so that a test reads as the situation that it is about.
struct Launch {
  std::vector<std::string> argv;
  std::vector<std::string> env;  // "NAME=value", on top of the test's own environment
  std::optional<uid_t> uid;      // become this user
  std::string stderr_path;       // appended to; empty means closed
  Stdio in = Stdio::Pipe;
  Stdio out = Stdio::Pipe;
  const Terminal* terminal = nullptr;  // becomes the controlling terminal of a new session
  std::function<void()>
      before_exec;  // in the child, with all its descriptors, before it becomes another user
};

class Session {
 public:
  explicit Session(const Launch& launch);
  ~Session();  // lets go of the pipes, waits, and kills what does not end
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  pid_t pid() const { return pid_; }
  int stdin_fd() const { return in_; }
  int stdout_fd() const { return out_; }

  void send(const std::string& method, const std::string& arg = "");
  // The result in the next line of the server; nothing at the end of its output or when patience ends.
  std::optional<std::string> answer();
  std::optional<std::string> ask(const std::string& method, const std::string& arg = "");

  // The number in the next "!name N" line of a relay_client.
  std::optional<int> notice(const std::string& name);

  void close_stdin();
  void close_stdout();
  void half_close();            // shutdown(SHUT_WR) on a socket
  bool output_ends();           // end of output within our patience; what comes before it is dropped
  std::string output_to_end();  // every byte until then

  // Exit code as a shell shows it (128+n for a signal); nothing if it does not end in time.
  std::optional<int> wait();

 private:
  bool read_more();
  bool take_line(std::string& line);
  void sort_line(const std::string& line);
  void read_until(const std::function<bool()>& enough);

  pid_t pid_ = -1;
  int in_ = -1;
  int out_ = -1;
  int next_id_ = 0;
  bool out_ended_ = false;
  std::string buffer_;
  std::deque<std::string> answers_;
  std::map<std::string, std::deque<int>> notices_;
  std::optional<int> exit_code_;
};

}  // namespace corral::os_tests
