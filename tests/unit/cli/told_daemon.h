// A daemon that says what a test told it to, in a directory of its own, and a command that runs inside the
// test program. What a command shows and how it ends can then be compared as a whole.
#pragma once

#include <stdlib.h>

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "control/hello.h"

namespace corral::cli {

class ToldDaemon {
 public:
  using Kind = control::Reply::Kind;

  ToldDaemon();
  ~ToldDaemon();
  ToldDaemon(const ToldDaemon&) = delete;
  ToldDaemon& operator=(const ToldDaemon&) = delete;

  /// Every question of this verb gets it from now on; of several the last one stays. A verb without one is
  /// hung up on.
  void answers(control::Verb verb, std::vector<control::Reply> replies);
  void status(const std::string& json) { answers(control::Verb::Status, {reply(Kind::Status, json)}); }
  void result(control::Verb verb, const std::string& json) { answers(verb, {reply(Kind::Result, json)}); }
  void refuses(control::Verb verb, const std::string& why) { answers(verb, {reply(Kind::Refused, why)}); }

  static control::Reply reply(Kind kind, const std::string& text) {
    control::Reply reply;
    reply.kind = kind;
    reply.text = text;
    return reply;
  }

  const std::string& runtime_dir() const { return runtime_dir_; }
  /// What it was asked so far.
  std::vector<control::Hello> asked() const;

 private:
  void serve();
  void serve_one(int connection);

  std::string runtime_dir_;
  UniqueFd listener_;
  mutable std::mutex mutex_;
  std::map<control::Verb, std::vector<control::Reply>> answers_;
  std::vector<control::Hello> asked_;
  std::thread thread_;
};

/// An environment variable with another value, for as long as this lives.
class SetVariable {
 public:
  SetVariable(const char* name, const std::string& value) : name_(name) {
    if (const char* const before = getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  ~SetVariable() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }
  SetVariable(const SetVariable&) = delete;
  SetVariable& operator=(const SetVariable&) = delete;

 private:
  const char* const name_;
  std::optional<std::string> before_;
};

/// What a person sees of a command, in a terminal of 100 columns without colours.
struct Seen {
  int code = -1;
  std::string out;
  std::string errors;
};
Seen run_command(std::vector<std::string> words);

}  // namespace corral::cli
