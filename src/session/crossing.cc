#include "session/crossing.h"

#include <algorithm>

#include "bridge/legacy_client.h"
#include "bridge/modern_client.h"
#include "bridge/older_client.h"

namespace corral::session {
namespace {

using knowledge::Era;

Crossing::Kind kind_for(const Crossing::Sides& sides) {
  const Era client = sides.client.era;
  const Era server = sides.handshake.era();
  if (client == Era::Modern && server == Era::Legacy) return Crossing::Kind::ModernToLegacy;
  if (client == Era::Legacy && server == Era::Modern) return Crossing::Kind::LegacyToModern;
  // A private server knows the revision of its client and follows it.
  const bool may_be_newer = client == Era::Legacy && server == Era::Legacy && sides.shared;
  if (may_be_newer && bridge::needs_older_words(sides.client.version)) return Crossing::Kind::ToOlder;
  return Crossing::Kind::None;
}

}  // namespace

Crossing::Bridge Crossing::connect(const Sides& sides) {
  const Kind kind = kind_for(sides);
  if (bridge_ && kind == kind_) {
    bridge_->instance_changed(sides.handshake.result());
    return Bridge::Kept;
  }
  end();
  reset();
  kind_ = kind;
  switch (kind) {
    case Kind::None: return Bridge::Kept;
    case Kind::ModernToLegacy:
      bridge_ = bridge::modern_client(outlet_, {.server = sides.server,
                                                .initialize_result = sides.handshake.result(),
                                                .account = sides.account,
                                                .several_programs = sides.several_programs});
      break;
    case Kind::LegacyToModern:
      bridge_ = bridge::legacy_client(outlet_, {sides.server, sides.client.introduction,
                                                sides.handshake.result(), sides.shared, sides.account});
      break;
    case Kind::ToOlder: bridge_ = bridge::older_client(outlet_, sides.client.version); break;
  }
  return Bridge::New;
}

void Crossing::from_client(const wire::Message& message) {
  bridge_->from_client(message, Clock::now());
  watch_deadline();
}

void Crossing::from_server(const wire::Line& line, std::initializer_list<wire::Edit> edits) {
  const auto text = std::make_shared<const std::string>(wire::edited(line.text, edits));
  bridge_->from_server(wire::Message(wire::Line{*text, line.owner ? text : nullptr}), Clock::now());
  watch_deadline();
}

void Crossing::client_ended() {
  if (bridge_) bridge_->client_ended();
}

void Crossing::end() {
  if (!bridge_) return;
  ending_ = true;
  bridge_->client_ended();
  bridge_->expire(Clock::time_point::max());
  ending_ = false;
}

void Crossing::reset() {
  timer_.cancel();
  bridge_.reset();
  kind_ = Kind::None;
}

void Crossing::stop() {
  stopped_ = true;
  timer_.cancel();
}

void Crossing::watch_deadline() {
  if (!bridge_ || stopped_) return;
  const auto deadline = bridge_->next_deadline();
  if (!deadline) return timer_.cancel();
  timer_.start(std::max(*deadline - Clock::now(), Clock::duration::zero()), [this] {
    if (!bridge_) return;
    bridge_->expire(Clock::now());
    watch_deadline();
  });
}

}  // namespace corral::session
