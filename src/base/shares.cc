#include "base/shares.h"

#include <algorithm>

namespace corral {
namespace {

constexpr std::string_view kUser = "user";

constexpr std::size_t place_of(Good good) { return static_cast<std::size_t>(good); }

const char* good_name(Good good) {
  switch (good) {
    case Good::Sessions: return "sessions";
    case Good::Instances: return "instances";
    case Good::Requests: return "open requests";
    case Good::Bytes: return "bytes kept for clients";
    case Good::LogLines: return "log lines a second";
  }
  return "?";
}

const char* advice_for(Good good) {
  switch (good) {
    case Good::Sessions: return "end unused sessions (DELETE over HTTP)";
    case Good::Instances:
      return "end a session that has a private server, or raise \"max_instances\" in the daemon's "
             "configuration";
    case Good::Requests: return "wait for some of their answers";
    case Good::Bytes: return "end sessions and subscriptions, wait for answers, or send less at once";
    case Good::LogLines: return "wait a second";
  }
  return "";
}

}  // namespace

Quota quota_of(std::size_t all) {
  const std::size_t quarter = std::max<std::size_t>(1, all / 4);
  const std::size_t tokens = all - std::min(all, quarter);
  return {all, tokens, std::min(tokens, quarter)};
}

bool within(const Quota& quota, const Use& use, std::size_t more) {
  const auto fits = [more](std::size_t used, std::size_t most) {
    return used <= most && more <= most - used;
  };
  if (!fits(use.all, quota.all)) return false;
  return use.of_user || (fits(use.tokens, quota.tokens) && fits(use.mine, quota.token));
}

std::string over_quota(Good good, const Quota& quota, const Use& use, const std::string& principal) {
  const std::string what = good_name(good);
  const auto sentence = [&](const std::string& who, std::size_t used, std::size_t most) {
    return who + std::to_string(most) + " " + what + ", and " + std::to_string(used) +
           " are in use: " + advice_for(good);
  };
  if (principal == kUser || use.all >= quota.all)
    return sentence("this daemon allows at most ", use.all, quota.all);
  if (use.mine >= quota.token || use.tokens < quota.tokens) {
    return sentence("one token may hold at most ", use.mine, quota.token);
  }
  return sentence("all tokens together may hold at most ", use.tokens, quota.tokens);
}

// ---- one account

Account::Account(Shares& shares, std::string principal)
    : shares_(shares), principal_(std::move(principal)), is_user_(principal_ == kUser) {}

std::optional<Account::Held> Account::take(Good good, std::size_t amount) {
  const std::size_t at = place_of(good);
  const Use use{shares_.all_[at], shares_.tokens_[at], used_[at], is_user()};
  if (!within(shares_.quotas_[at], use, amount)) return std::nullopt;
  used_[at] += amount;
  shares_.all_[at] += amount;
  if (!is_user()) shares_.tokens_[at] += amount;
  return Held(*this, good, amount);
}

std::string Account::objection(Good good, std::size_t amount) const {
  const std::size_t at = place_of(good);
  const Use use{shares_.all_[at], shares_.tokens_[at], used_[at]};
  const std::string more = amount > 1 ? "; " + std::to_string(amount) + " more were requested" : "";
  return over_quota(good, shares_.quotas_[at], use, principal_) + more;
}

bool Account::Held::resize(std::size_t amount) {
  if (account_ == nullptr) return true;
  if (amount > amount_) {
    auto more = account_->take(good_, amount - amount_);
    if (!more) return false;
    more->account_ = nullptr;  // moved into this object
  } else {
    Held rest(*account_, good_, amount_ - amount);  // returned by its destructor
  }
  amount_ = amount;
  return true;
}

void Account::Held::give_back() {
  if (account_ == nullptr) return;
  const std::size_t at = place_of(good_);
  account_->used_[at] -= amount_;
  account_->shares_.all_[at] -= amount_;
  if (!account_->is_user()) account_->shares_.tokens_[at] -= amount_;
  account_ = nullptr;
}

/// Counted per second, so nothing has to be returned.
std::optional<std::string> Account::loggable(std::string_view line, Time now) {
  constexpr std::size_t kAt = place_of(Good::LogLines);
  constexpr std::chrono::seconds kWindow{1};
  if (now - shares_.second_ >= kWindow) {
    shares_.second_ = now;
    shares_.all_[kAt] = 0;
    shares_.tokens_[kAt] = 0;
  }
  if (second_ != shares_.second_) {
    second_ = shares_.second_;
    used_[kAt] = 0;
  }
  if (!within(shares_.quotas_[kAt], {shares_.all_[kAt], shares_.tokens_[kAt], used_[kAt], is_user()})) {
    ++unlogged_;
    return std::nullopt;
  }
  ++used_[kAt];
  ++shares_.all_[kAt];
  if (!is_user()) ++shares_.tokens_[kAt];
  std::string text(line);
  if (const std::uint64_t before = std::exchange(unlogged_, 0)) {
    text +=
        " (" + std::to_string(before) + " more lines from " + principal_ + " were left out before this one)";
  }
  return text;
}

// ---- all accounts

Shares::Shares()
    : quotas_{quota_of(kSessions), Quota{}, quota_of(kRequests), quota_of(kBytes), quota_of(kLogLines)} {}

Account& Shares::account(const std::string& principal) {
  const std::string& name = principal.empty() ? std::string(kUser) : principal;
  return accounts_.try_emplace(name, *this, name).first->second;
}

}  // namespace corral
