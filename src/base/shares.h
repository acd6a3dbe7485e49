// Quotas: how much of the daemon each principal may hold at once. This is the only table of quotas. Tokens
// cannot use up the part that is reserved for the user. Must be used on the loop's thread, and must outlive
// every Held.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"

namespace corral {

/// The things that have a quota. SECURITY.md lists the numbers.
enum class Good : std::uint8_t {
  Sessions,
  Instances,
  Requests,  // open requests
  Bytes,     // kept for a client: ids, tokens, client info, subscriptions, queued messages
  LogLines,  // per second
};
inline constexpr std::size_t kGoods = 5;

/// The most of one resource that may be held. The difference between `all` and `tokens` is reserved for the
/// user.
struct Quota {
  std::size_t all = 0;     // by all principals together
  std::size_t tokens = 0;  // by all tokens together
  std::size_t token = 0;   // by one token
};
/// Reserves a quarter for the user and limits one token to a quarter.
Quota quota_of(std::size_t all);

/// How much of a resource is held now.
struct Use {
  std::size_t all = 0;
  std::size_t tokens = 0;
  std::size_t mine = 0;
  bool of_user = false;  // `mine` is the user's: only `all` limits it
};

class Shares;

/// What one principal holds: the user, or one token. Shares owns the accounts; references stay valid for its
/// lifetime.
class Account {
 public:
  using Time = Clock::time_point;

  /// A reserved amount of a resource. The destructor returns it to the account, which must still exist.
  class Held {
   public:
    Held() = default;
    Held(Held&& other) noexcept
        : account_(std::exchange(other.account_, nullptr)), good_(other.good_), amount_(other.amount_) {}
    Held& operator=(Held&& other) noexcept {
      if (this == &other) return *this;
      give_back();
      account_ = std::exchange(other.account_, nullptr);
      good_ = other.good_;
      amount_ = other.amount_;
      return *this;
    }
    ~Held() { give_back(); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

    std::size_t amount() const { return account_ == nullptr ? 0 : amount_; }
    /// False, without a change, if a quota does not allow the new amount. Always true for an object that was
    /// default-constructed or moved from.
    bool resize(std::size_t amount);

   private:
    friend class Account;
    Held(Account& account, Good good, std::size_t amount)
        : account_(&account), good_(good), amount_(amount) {}
    void give_back();

    Account* account_ = nullptr;
    Good good_ = Good::Sessions;
    std::size_t amount_ = 0;
  };

  Account(Shares& shares, std::string principal);
  Account(const Account&) = delete;
  Account& operator=(const Account&) = delete;

  /// "user" or "token:NAME".
  const std::string& principal() const { return principal_; }
  bool is_user() const { return is_user_; }

  /// Reserves an amount; empty if a quota does not allow it. `objection` then says which quota.
  std::optional<Held> take(Good good, std::size_t amount = 1);
  /// A sentence for the client that was refused: which quota is used up, by which principal, and what to do
  /// about it.
  std::string objection(Good good, std::size_t amount = 1) const;
  std::size_t used(Good good) const { return used_[static_cast<std::size_t>(good)]; }

  /// The line as it should be logged; empty if too many lines were logged in this second. The first line
  /// after a gap says how many lines were left out.
  std::optional<std::string> loggable(std::string_view line, Time now = Clock::now());

 private:
  Shares& shares_;
  const std::string principal_;
  const bool is_user_;  // cached: needed several times per call
  std::array<std::size_t, kGoods> used_{};
  Time second_{};  // the second that used_[LogLines] counts
  std::uint64_t unlogged_ = 0;
};

class Shares {
 public:
  static constexpr std::size_t kSessions = 16384;
  static constexpr std::size_t kRequests = 16384;
  static constexpr std::size_t kBytes = std::size_t{512} << 20;
  static constexpr std::size_t kLogLines = 40;

  Shares();

  /// Creates the account on first use; the reference stays valid as long as this object. "user" is the user's
  /// account.
  Account& account(const std::string& principal);
  /// For tests: replaces a number from SECURITY.md.
  void set_most(Good good, std::size_t all) { quotas_[static_cast<std::size_t>(good)] = quota_of(all); }
  const Quota& quota(Good good) const { return quotas_[static_cast<std::size_t>(good)]; }

 private:
  friend class Account;

  std::array<Quota, kGoods> quotas_;
  std::array<std::size_t, kGoods> all_{};
  std::array<std::size_t, kGoods> tokens_{};
  Account::Time second_{};  // the second that all_[LogLines] counts
  std::map<std::string, Account, std::less<>> accounts_;
};

/// Whether `more` may be held. This is the rule that `Account::take` applies, for callers that keep their own
/// counts.
bool within(const Quota& quota, const Use& use, std::size_t more = 1);
/// The sentence for a principal that was refused.
std::string over_quota(Good good, const Quota& quota, const Use& use, const std::string& principal);

}  // namespace corral
