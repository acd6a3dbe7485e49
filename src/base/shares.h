// How much of the daemon each principal may hold at once: the one table of quotas. The user's own part of it
// cannot be taken by tokens. Belongs to the loop's thread; outlives everything that is held.
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

/// What there is a quota of. SECURITY.md lists the numbers.
enum class Good : std::uint8_t {
  Sessions,
  Instances,
  Requests,  // that wait for their answers
  Bytes,     // that are kept for a client: ids, tokens, what it says of itself, subscriptions, what waits
  LogLines,  // a second
};
inline constexpr std::size_t kGoods = 5;

/// The most of one good that may be held. What is left of `all` beyond `tokens` is for the user alone.
struct Quota {
  std::size_t all = 0;     // by everybody together
  std::size_t tokens = 0;  // by all tokens together
  std::size_t token = 0;   // by one token
};
/// A quarter is the user's own, and one token has a quarter at most.
Quota quota_of(std::size_t all);

/// Who holds how much of a good now.
struct Use {
  std::size_t all = 0;
  std::size_t tokens = 0;
  std::size_t mine = 0;
};

class Shares;

/// The user, or one token.
class Account {
 public:
  using Time = Clock::time_point;

  /// A part of a good, for as long as this lives.
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
    /// False, and nothing changes, if that would be more than a quota allows. Of one that holds nothing of
    /// anybody: always true.
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

  /// "user", or "token:NAME".
  const std::string& principal() const { return principal_; }
  bool is_user() const { return is_user_; }

  /// Nothing if that would be more than a quota allows; `objection` then says which.
  std::optional<Held> take(Good good, std::size_t amount = 1);
  /// Which quota is used up, by whom, and what to do about it: a sentence for whoever was refused.
  std::string objection(Good good, std::size_t amount = 1) const;
  std::size_t used(Good good) const { return used_[static_cast<std::size_t>(good)]; }

  /// The line as it may be logged now; nothing if this second has had enough of them. The first line after
  /// those that were left out says how many they were.
  std::optional<std::string> loggable(std::string_view line, Time now = Clock::now());

 private:
  Shares& shares_;
  const std::string principal_;
  const bool is_user_;  // asked several times for each call
  std::array<std::size_t, kGoods> used_{};
  Time second_{};  // that used_[LogLines] is of
  std::uint64_t unlogged_ = 0;
};

class Shares {
 public:
  static constexpr std::size_t kSessions = 16384;
  static constexpr std::size_t kRequests = 16384;
  static constexpr std::size_t kBytes = std::size_t{512} << 20;
  static constexpr std::size_t kLogLines = 40;

  Shares();

  /// For as long as we live. "user" is the user's own.
  Account& account(const std::string& principal);
  /// For tests: other numbers than SECURITY.md lists.
  void set_most(Good good, std::size_t all) { quotas_[static_cast<std::size_t>(good)] = quota_of(all); }
  const Quota& quota(Good good) const { return quotas_[static_cast<std::size_t>(good)]; }

 private:
  friend class Account;

  std::array<Quota, kGoods> quotas_;
  std::array<std::size_t, kGoods> all_{};
  std::array<std::size_t, kGoods> tokens_{};
  Account::Time second_{};  // that all_[LogLines] is of
  std::map<std::string, Account, std::less<>> accounts_;
};

/// Whether so much more may be held: the rule behind `Account::take`, for who counts by himself.
bool within(const Quota& quota, const Use& use, bool is_user, std::size_t more = 1);
/// The sentence for whoever may not.
std::string over_quota(Good good, const Quota& quota, const Use& use, const std::string& principal);

}  // namespace corral
