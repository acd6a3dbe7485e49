// The base of the tests of the whole way: clients behind `corral connect`, the daemon, and rude servers. The
// test speaks MCP itself, line by line, so that it sees every byte that a client would.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "support/daemon_test.h"

namespace corral::os_tests {

/// The text of one field of a message, without its quotes; empty if it has none.
std::string field(const std::string& line, const std::string& name);

/// A client with one session. Ids count from 1; answers are found by their id, in whatever order they come.
class McpClient {
 public:
  explicit McpClient(const Launch& launch) : session_(launch) {}

  Session& session() { return session_; }

  /// Whole lines, written with patience; false if the other end is gone or never takes them.
  bool send(const std::string& line);
  bool send_bytes(const std::string& bytes);
  /// What goes into the pipe without waiting: the number of bytes until it stays full.
  std::size_t send_until_full(const std::string& bytes, std::size_t most);

  bool initialize();  // and waits for the answer
  int begin(const std::string& tool, const std::string& arg = "");
  int begin_with_progress(const std::string& tool, const std::string& arg);
  /// The whole line of the answer; empty if there is none.
  std::string answer_to(int id);
  std::string answer_to(const std::string& id);  // a text without its quotes
  /// The text that a tool answered, or the whole line if it is an error.
  std::string call(const std::string& tool, const std::string& arg = "");

  /// Every line that came and was no awaited answer.
  const std::vector<std::string>& others() const { return others_; }
  /// Reads on until the end of the output; true if there is one.
  bool reads_to_end();
  /// Takes at most this many bytes, like a client that is slow.
  void sip(std::size_t bytes);

  std::optional<int> wait() { return session_.wait(); }

 private:
  void read_some(std::size_t most);
  void sort_lines();

  Session session_;
  int last_id_ = 0;
  bool ended_ = false;
  std::string buffer_;
  std::size_t searched_ = 0;
  std::map<std::string, std::string> answers_;
  std::vector<std::string> others_;
};

class HubTest : public DaemonTest {
 protected:
  void SetUp() override;

  /// One entry: the rude server with these words, and these members of its "corral" object.
  void add_server(const std::string& name, const std::vector<std::string>& words, const std::string& options);
  void set_options(const std::string& members) { top_ = members; }
  void start_daemon();
  Serving& serving() { return *serving_; }

  std::vector<std::string> rude(const std::vector<std::string>& words = {}) const;
  Launch connect(const std::vector<std::string>& words) const;  // its stderr is errors_of_shim()
  Launch connect_command(const std::vector<std::string>& words = {}) const;
  std::string errors_of_shim() const { return file("stderr-connect"); }

  std::string status() const;  // one line of JSON
  /// The sum of all numbers of this name in the status; -1 if there is none.
  long counter(const std::string& name) const;
  pid_t pid_in_status(const std::string& name) const { return static_cast<pid_t>(counter(name)); }
  pid_t keeper() const { return pid_in_status("keeper"); }
  pid_t shim() const { return pid_in_status("shim"); }
  long memory_of_daemon() const;  // its own share of what it uses, in KiB

 private:
  std::string servers_;
  std::string top_ = R"("drain":"200ms")";
  std::unique_ptr<Serving> serving_;
};

}  // namespace corral::os_tests
