// The server of one instance, as the crosstalk test plays it: does everything that a server may do, in any
// order, and puts the canary of a call into every word that it says about it.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "crosstalk/ledger.h"
#include "session/exchange.h"

namespace corral::crosstalk {

struct Role {
  std::string scope;  // server, principal and root: whom it may hear
  knowledge::Era era = knowledge::Era::Legacy;
  bool own = false;      // for one session alone
  bool hostile = false;  // tries to forge messages
};

class Player {
 public:
  Player(tests::FakeServer& fake, Role role, Ledger& ledger, Random& random)
      : fake_(fake), role_(std::move(role)), ledger_(ledger), random_(random) {}

  /// Reads what it was told, and checks that it may know it.
  void hear();
  /// Does one thing.
  void act();
  /// Answers everything that it can: for the end of the test.
  void finish();
  void crash();
  bool gone() const { return gone_; }

 private:
  struct Job {
    std::string id;     // JSON
    std::string token;  // JSON; empty = no progress is wanted
    std::string method;
    std::string uris;  // of a listen, JSON
    Canary canary;
    bool logs = false;        // log lines may be sent for it
    bool given_up = false;    // its client has taken it back
    bool listening = false;   // a listen that was acknowledged
    bool asked_once = false;  // modern: it has answers to its questions
  };
  struct Question {
    std::string id;
    Canary canary;
  };
  struct Answered {
    Job job;
    Clock::time_point when;
  };

  void say(const std::string& line);
  void hear_line(const std::string& line);
  void hear_request(const boost::json::object& message, const std::string& line);
  void hear_response(const boost::json::object& message, const std::string& line);
  void check(const std::vector<Canary>& canaries);
  bool modern() const { return role_.era == knowledge::Era::Modern; }
  std::string name() const { return "server " + std::to_string(fake_.number()) + " (" + role_.scope + ")"; }

  bool answer_handshake();
  void leave();
  void answer(Job& job);
  void answer_listen(Job& job);
  static std::string word_of(const Job& job);
  std::string result_of(const Job& job);
  void log(const Job& job);
  void complain(const Job& job);
  bool speak_late();
  void done(const Job& job);
  void report_progress(const Job& job);
  void ask(const Job& job);
  void ask_back(const Job& job);  // modern: by its answer
  void change_list();
  void forge();
  void forget(const Job& job);

  tests::FakeServer& fake_;
  Role role_;
  Ledger& ledger_;
  Random& random_;
  std::vector<Job> handshakes_;
  std::vector<Job> jobs_;
  std::vector<Question> questions_;
  std::deque<Answered> answered_;  // the last ones
  int only_session_ = 0;           // role_.own: the one that it heard first
  int last_question_ = 0;
  int version_ = 0;  // of its lists
  bool gone_ = false;
};

}  // namespace corral::crosstalk
