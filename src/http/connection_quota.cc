#include "http/connection_quota.h"

#include <string_view>

namespace corral::http {
namespace {

/// The address without its port: "1.2.3.4:5", "[::1]:5", or without one.
std::string_view host_of(std::string_view address) {
  if (address.starts_with('[')) return address.substr(1, address.find(']') - 1);
  const std::size_t colon = address.find(':');
  return colon == address.rfind(':') ? address.substr(0, colon) : address;
}

/// The name under which a peer is counted. All other users of this machine count as one, because they have 16
/// million loopback addresses.
std::string origin_of(const Peer& peer) {
  if (peer.ours) return "ours";
  const std::string_view host = host_of(peer.address);
  const bool here = peer.socket == Peer::Socket::Unix || host.starts_with("127.") ||
                    host.starts_with("::ffff:127.") || host == "::1";
  return here ? "others here" : std::string(host);
}

}  // namespace

bool ConnectionQuota::admit(const Peer& peer) {
  if (full() || (!peer.ours && by_others_ >= most_ - most_ / 4)) return false;
  std::string origin = origin_of(peer);
  const auto found = by_one_.find(origin);
  if (found != by_one_.end() && most_of_one_ > 0 && found->second >= most_of_one_) return false;
  ++taken_;
  if (!peer.ours) ++by_others_;
  ++by_one_[std::move(origin)];
  return true;
}

void ConnectionQuota::release(const Peer& peer) {
  --taken_;
  if (!peer.ours) --by_others_;
  const auto found = by_one_.find(origin_of(peer));
  if (--found->second == 0) by_one_.erase(found);
}

}  // namespace corral::http
