// One session as its client sees it: opens, calls, cancels, answers, dies; and checks that every byte that it
// gets is its own. How the bytes travel is the business of those who derive from it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "crosstalk/ledger.h"
#include "session/exchange.h"

namespace corral::crosstalk {

/// A server as it is configured, and who asks for it.
struct Definition {
  std::string server;
  config::Share share = config::Share::Shared;
  knowledge::Era era = knowledge::Era::Legacy;
  std::string principal = "user";
  std::string root;

  std::string scope() const { return server + " for " + principal + (root.empty() ? "" : " in " + root); }
  bool own() const { return share == config::Share::Session; }
};

/// The last words of a server that was lost: about any call of the session, but of no other session.
inline bool quotes_stderr(const std::string& text) {
  return text.find("; its stderr ended with: ") != std::string::npos;
}

class Client {
 public:
  Client(Definition definition, knowledge::Era era, Ledger& ledger, Random& random);
  virtual ~Client() = default;
  Client(const Client&) = delete;

  /// Does one thing.
  void act();
  /// Reads what has come, and checks it.
  virtual void read() = 0;
  /// For the end of the test: what holds a call back is answered, and nothing new begins.
  void finish();
  /// Whether every call that it still wants has its answer.
  bool settled() const;
  /// Its process is gone.
  virtual void die() = 0;
  /// It can be replaced by another one: nobody else knows it any more.
  virtual bool over() const = 0;
  /// It has no session, or has lost it: nothing more comes of it.
  virtual bool lost() const { return false; }
  std::string name() const { return "session " + std::to_string(number_) + " (" + kind() + ")"; }
  virtual std::string kind() const = 0;
  std::string unanswered() const;
  bool dead() const { return dead_; }

 protected:
  struct Request {
    Canary canary;
    std::string method;
    std::string token;  // JSON
    bool cancelled = false;
    int answers = 0;
  };
  struct Asked {
    std::string id;
    std::string method;
  };

  /// Sends a message; `id` is that of a request.
  virtual void transmit(const std::string& message, const std::string& method, const std::string& id) = 0;
  /// How a request is taken back.
  virtual void take_back(const std::string& id);
  /// One more thing that only this kind of client does.
  virtual void do_something_special() {}
  /// Whether anybody takes what it says now.
  virtual bool may_speak() const { return true; }

  /// Checks one message and notes what it means.
  void take(const std::string& message);
  void check_words(const std::string& text, const std::string& what);
  void take_response(const boost::json::object& message, const std::string& text);
  void take_question(const boost::json::object& message, const std::string& text);
  void take_notification(const boost::json::object& message, const std::string& text);
  virtual void input_required(const boost::json::object& result, const Canary& canary);

  void open();
  void call();
  void cancel();
  void request(const std::string& method, const std::string& params, const Canary& canary);
  void answer_question();
  std::string modern_meta(const std::string& more) const;
  std::string next_id(const Canary& canary);
  bool modern() const { return era_ == knowledge::Era::Modern; }
  Canary mint() { return {number_, ++last_call_}; }

  const Definition definition_;
  const knowledge::Era era_;
  Ledger& ledger_;
  Random& random_;
  const int number_;
  std::string version_;
  std::function<void()> settle_;  // runs the daemon until it has nothing to do
  bool opened_ = false;           // it has said its first word
  bool greeted_ = false;          // and had its answer
  bool dead_ = false;
  std::map<std::string, Request> requests_;  // by id, as JSON
  std::vector<Asked> questions_;
  int last_call_ = 0;
  int last_id_ = 0;

 public:
  void settles_with(std::function<void()> settle) { settle_ = std::move(settle); }
};

}  // namespace corral::crosstalk
