#include "pool/unattended.h"

#include <algorithm>

namespace corral::pool {

UnattendedVerdict judge_unattended(const UnattendedUse& use, const UnattendedRule& rule) {
  const Clock::duration after = rule.after();
  if (after == Clock::duration::zero()) return {};
  UnattendedVerdict verdict;
  verdict.parks = rule.asked.has_value() || use.keeps_no_state;
  // Work that goes on without anybody attached is use, too.
  const Clock::duration passed = use.in_use ? Clock::duration::zero() : std::min(use.unused, use.unattended);
  verdict.left = std::max(after - passed, Clock::duration::zero());
  verdict.over = passed >= after;
  return verdict;
}

}  // namespace corral::pool
