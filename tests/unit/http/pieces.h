// An exchange that remembers what it was told, piece by piece.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "http/exchange.h"

namespace corral::http {

class Pieces final : public Exchange {
 public:
  const Peer& peer() const override { return who; }
  void reply(Response response) override { replies.push_back(std::move(response)); }
  void begin(int status, Headers with) override { replies.push_back({status, std::move(with), "", nullptr}); }
  void write(const wire::Line& piece) override {
    pieces.emplace_back(piece.text);
    owners.push_back(piece.owner);
  }
  void finish() override { ++finished; }
  std::size_t queued() const override { return waiting; }
  void when_drained(Task task) override { drained = std::move(task); }
  void when_gone(Task task) override { gone = std::move(task); }

  Peer who;
  std::vector<Response> replies;
  std::vector<std::string> pieces;
  std::vector<std::shared_ptr<const void>> owners;  // of the pieces
  int finished = 0;
  std::size_t waiting = 0;
  Task drained;
  Task gone;
};

}  // namespace corral::http
