// The base of the tests of doctor, who, reap, watch and cleanup: a home directory of its own with the
// configuration of clients, programs under the names of well-known clients, and servers whose file is nobody
// else's, so that other tests on this machine neither see nor are seen.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <vector>

#include "support/os_test.h"

namespace corral::os_tests {

/// What a command of corral said, and how it ended.
struct Said {
  int code = -1;
  std::string out;
  std::string err;
};

bool lives(pid_t pid);  // a zombie does not
std::vector<pid_t> living(const std::vector<pid_t>& pids);

/// A client with the servers that it has started.
class Holder {
 public:
  Holder(const Launch& launch, std::size_t servers);

  pid_t pid() const { return session_.pid(); }
  const std::vector<pid_t>& servers() const { return servers_; }  // oldest first
  pid_t server() const { return servers_.front(); }
  Session& session() { return session_; }
  void let_go();  // closes the pipes and keeps running
  void die();     // by SIGKILL

 private:
  Session session_;
  std::vector<pid_t> servers_;
};

class SurveyTest : public OsTest {
 protected:
  void SetUp() override;
  void TearDown() override;  // the servers here are made to stay

  /// As whom clients, servers and corral run. Root, where the tests have it, sees more than others do, so the
  /// ordinary user is the rule.
  virtual User user() const { return User::Ordinary; }

  /// A copy of a program below the directory of this test.
  std::string install(const std::string& program, const std::string& as) const;
  void write(const std::string& name, const std::string& text) const;
  std::string home() const { return path("home"); }
  const std::string& server() const { return server_; }  // a program that only this test runs
  /// Codex's configuration names the server, so that it is one beyond doubt.
  void configure_codex(const std::string& command) const;

  /// The server's command line, with the tag of this test in it.
  std::vector<std::string> server_line(const std::vector<std::string>& options = {"--ignore-eof"}) const;
  /// The same behind a shell that waits for it.
  std::vector<std::string> wrapped_line(const std::string& options = "--ignore-eof") const;

  /// A client of this name ("codex", "claude"; anything else is unknown) that starts `count` copies.
  Launch client(const std::string& name, std::size_t count, const std::vector<std::string>& command) const;
  Launch in_this_world(Launch launch) const;  // this home, this tag, this user, nobody's environment

  Launch corral_launch(const std::vector<std::string>& words, const std::vector<std::string>& env = {}) const;
  Said run_corral(const std::vector<std::string>& words, const std::vector<std::string>& env = {}) const;
  boost::json::value doctor(const std::vector<std::string>& words = {}) const;

 private:
  std::string server_;
};

/// The entry of a server in what `corral doctor --json` says; throws if there is none.
const boost::json::object& entry_of(const boost::json::value& doctor, pid_t server);
bool has_entry(const boost::json::value& doctor, pid_t server);
/// Whether a finding of this kind names exactly these servers (and perhaps others).
const boost::json::object* finding(const boost::json::value& doctor, const std::string& kind, pid_t server);
std::string text_of(const boost::json::object& object, const std::string& key);  // "null" for null
/// All pieces of evidence of one kind.
std::string evidence(const boost::json::object& server, const std::string& kind);

std::string word(pid_t pid);

/// Sockets that children inherit, so that servers have them as if they had made them; -1 if that fails. The
/// kernel accepts connections to them without anybody's help.
int listen_at_any_port();
int listen_at(const std::string& path);
int port_of(int listening);
/// As a client connects: to a port of this machine.
int connect_to(int port);

}  // namespace corral::os_tests
