#include "cli/told_daemon.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "cli/frame/command.h"
#include "cli/frame/parser.h"
#include "control/runtime_dir.h"

namespace corral::cli {

using control::Reply;

ToldDaemon::ToldDaemon() {
  std::string folder = testing::TempDir() + "toldXXXXXX";
  if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no folder for a daemon");
  runtime_dir_ = folder;
  listener_ = UniqueFd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = control::socket_path(runtime_dir_);
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  if (bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener_.get(), 8) != 0) {
    throw std::runtime_error("nobody can listen at " + path);
  }
  thread_ = std::thread([this] { serve(); });
}

ToldDaemon::~ToldDaemon() {
  shutdown(listener_.get(), SHUT_RDWR);  // wakes accept()
  thread_.join();
  std::error_code ignored;
  std::filesystem::remove_all(runtime_dir_, ignored);
}

void ToldDaemon::answers(control::Verb verb, std::vector<Reply> replies) {
  const std::lock_guard lock(mutex_);
  answers_[verb] = std::move(replies);
}

std::vector<control::Hello> ToldDaemon::asked() const {
  const std::lock_guard lock(mutex_);
  return asked_;
}

void ToldDaemon::serve() {
  std::vector<std::jthread> conversations;  // a command may hold a line on which it says nothing
  for (;;) {
    UniqueFd connection(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!connection.valid()) return;
    conversations.emplace_back([this, line = std::move(connection)] { serve_one(line.get()); });
  }
}

void ToldDaemon::serve_one(int connection) {
  std::string line;
  char byte = 0;
  while (recv(connection, &byte, 1, 0) == 1 && byte != '\n') line += byte;
  const Result<control::Hello> hello = control::decode_hello(line);
  if (!hello) return;  // a client that only looks whether a daemon is there
  const std::lock_guard lock(mutex_);
  asked_.push_back(*hello);
  const auto told = answers_.find(hello->verb);
  if (told == answers_.end() || told->second.empty()) return;
  const std::string reply = control::encode(told->second.front());
  if (told->second.size() > 1) told->second.erase(told->second.begin());
  send(connection, reply.data(), reply.size(), MSG_NOSIGNAL);
}

namespace {

/// Takes what is written to a stream for as long as it lives.
class Taken {
 public:
  explicit Taken(std::ostream& stream) : stream_(stream), before_(stream.rdbuf(text_.rdbuf())) {}
  ~Taken() { stream_.rdbuf(before_); }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;
  std::string text() const { return text_.str(); }

 private:
  std::ostream& stream_;
  std::ostringstream text_;
  std::streambuf* before_;
};

}  // namespace

Seen run_command(std::vector<std::string> words) {
  const SetVariable columns("COLUMNS", "100");
  const SetVariable colours("NO_COLOR", "1");
  const SetVariable locale("LC_ALL", "C");
  const Taken out(std::cout);
  const Taken errors(std::cerr);
  Seen seen;
  seen.code = parse_and_run(all_commands(), std::move(words));
  seen.out = out.text();
  seen.errors = errors.text();
  return seen;
}

}  // namespace corral::cli
