// The four ways in which a client comes to the daemon.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>

#include "crosstalk/client.h"
#include "transport/fake_exchange.h"
#include "transport/http_endpoint.h"

namespace corral::crosstalk {

/// A place in memory where sessions follow one another: each has the address of the one before.
using Seat = std::optional<tests::FakeClient>;

/// By pipes, in any revision.
class PipeClient final : public Client {
 public:
  using Make = std::function<tests::FakeClient&(const Definition&)>;
  PipeClient(const Definition& definition, knowledge::Era era, Ledger& ledger, Random& random,
             tests::FakeClient& fake)
      : Client(definition, era, ledger, random), fake_(fake) {}

  void read() override;
  void die() override;
  bool over() const override { return dead_ && fake_.exits > 0; }
  bool lost() const override { return fake_.exits > 0; }
  std::string kind() const override { return "pipes, " + version_; }

 private:
  void transmit(const std::string& message, const std::string& method, const std::string& id) override;
  bool may_speak() const override { return !closing_ && !lost() && (fake_.reading || !greeted_); }
  void do_something_special() override;
  void hurry();

  tests::FakeClient& fake_;
  bool closing_ = false;  // it has closed its end, and waits for its answers
  int slow_for_ = 0;
};

/// What all clients by URL have in common.
class UrlClient : public Client {
 public:
  UrlClient(const Definition& definition, knowledge::Era era, Ledger& ledger, Random& random,
            transport::HttpEndpoint& endpoint)
      : Client(definition, era, ledger, random), endpoint_(endpoint) {}

  bool over() const override { return dead_; }

 protected:
  using HttpReply = std::shared_ptr<transport::FakeExchange>;
  struct Open {
    HttpReply reply;
    std::string id;        // of the request that it carries; empty = none
    std::size_t read = 0;  // bytes of its body
    std::string last_event;
  };

  HttpReply send(http::Request request, const std::string& path);
  static http::Request post(const std::string& message);
  /// The messages that have come through this exchange since the last time.
  std::vector<std::string> news_of(Open& open);
  void hang_up_all();

  transport::HttpEndpoint& endpoint_;
  std::list<Open> open_;
};

class StreamableClient final : public UrlClient {
 public:
  using UrlClient::UrlClient;
  void read() override;
  void die() override;
  bool lost() const override { return lost_; }
  std::string kind() const override { return "streamable, " + version_; }

 private:
  void transmit(const std::string& message, const std::string& method, const std::string& id) override;
  bool may_speak() const override { return greeted_ && !lost_; }
  void do_something_special() override;
  http::Request with_session(http::Request request) const;

  std::string session_;
  std::string last_event_;  // of the stream that it listened to
  bool lost_ = false;
};

class SseClient final : public UrlClient {
 public:
  using UrlClient::UrlClient;
  void read() override;
  void die() override;
  bool lost() const override { return lost_; }
  std::string kind() const override { return "SSE, " + version_; }

 private:
  void transmit(const std::string& message, const std::string& method, const std::string& id) override;
  bool may_speak() const override { return !lost_; }

  HttpReply stream_;
  std::size_t read_ = 0;
  std::string endpoint_path_;
  std::string endpoint_query_;
  bool lost_ = false;
};

/// Each request is a connection of its own, and nothing of one may show up at another.
class ModernUrlClient final : public UrlClient {
 public:
  using UrlClient::UrlClient;
  void read() override;
  void die() override;
  std::string kind() const override { return "modern URL"; }

 private:
  void transmit(const std::string& message, const std::string& method, const std::string& id) override;
  void take_back(const std::string& id) override;
  void check_message(const std::string& message, const Canary& canary);
};

}  // namespace corral::crosstalk
