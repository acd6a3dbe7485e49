// Whether sessions may attach to an instance: judged after its handshake, and in some cases after its tools
// were listed. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "instance/handshake.h"
#include "router/learner.h"
#include "router/router_options.h"

namespace corral::router {

class Admission {
 public:
  enum class Verdict : std::uint8_t {
    Open,       // sessions may attach
    Unusable,   // they may not
    ListTools,  // ask the server for its tools and pass the answer to `tools_listed`
  };

  Admission(const RouterOptions& options, Learner& learner) : options_(options), learner_(learner) {}

  /// The handshake is over.
  Verdict judge(const instance::Handshake& handshake);
  /// After `ListTools`. Nothing if the server did not answer, or the answer shows nothing.
  Verdict tools_listed(std::optional<ToolEffects> effects);

  bool open() const { return open_; }
  bool modern() const { return modern_; }
  /// Why the version of the server must not be used; empty = it may be.
  const std::string& objection() const { return objection_; }
  /// The server is not what was known about it: sessions that wait for it must ask the pool again.
  bool contradicts() const { return contradicts_; }

 private:
  Verdict admit();
  Verdict contradict();

  const RouterOptions& options_;
  Learner& learner_;
  std::string objection_;
  bool open_ = false;
  bool modern_ = false;
  bool contradicts_ = false;
};

}  // namespace corral::router
