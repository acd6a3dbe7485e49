#include "transport/lease_state.h"

namespace corral::transport {

LeaseState::Stage LeaseState::message_from(std::optional<std::uint64_t> identity) {
  if (stage_ == Stage::Unbound) return stage_;
  if (stage_ == Stage::New && identity) {
    identity_ = *identity;
    return stage_ = Stage::Seen;
  }
  return stage_ = identity && *identity == identity_ ? Stage::Bound : Stage::Unbound;
}

}  // namespace corral::transport
