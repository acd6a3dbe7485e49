#include "pool/lifecycle.h"

#include <array>

namespace corral::pool {
namespace {

using L = Life;
using H = Happening;
using S = Step;

struct Rule {
  Life life;
  Happening happening;
  Next next;
};

constexpr std::array kRules = std::to_array<Rule>({
    {L::Empty, H::Asked, {L::Starting, S::Start}},

    {L::Starting, H::Opened, {L::Ready, S::Attach}},
    {L::Starting, H::Unfit, {L::Failing, S::End}},
    {L::Starting, H::Lost, {L::Failing, S::None}},
    {L::Starting, H::Unused, {L::Ending, S::End}},
    {L::Starting, H::Retired, {L::Ending, S::End}},

    {L::Failing, H::Gone, {L::Empty, S::Refuse}},
    {L::Failing, H::GoneTooOften, {L::Empty, S::Refuse}},
    {L::Failing, H::Unused, {L::Ending, S::None}},

    {L::Ready, H::Asked, {L::Ready, S::Attach}},
    {L::Ready, H::Lost, {L::Dying, S::None}},
    {L::Ready, H::Unused, {L::Ending, S::End}},
    {L::Ready, H::Hung, {L::Dying, S::Kill}},
    {L::Ready, H::Retired, {L::Draining, S::Drain}},

    {L::Draining, H::Lost, {L::Ending, S::None}},
    {L::Draining, H::Unused, {L::Ending, S::End}},
    {L::Draining, H::Hung, {L::Ending, S::Kill}},
    {L::Draining, H::Drained, {L::Ending, S::End}},

    {L::Ending, H::Gone, {L::Empty, S::Revive}},
    {L::Ending, H::GoneTooOften, {L::Empty, S::Revive}},

    {L::Dying, H::Gone, {L::Waiting, S::Delay}},
    {L::Dying, H::GoneTooOften, {L::Broken, S::Refuse}},
    {L::Dying, H::Unused, {L::Ending, S::None}},
    {L::Dying, H::Retired, {L::Ending, S::None}},

    {L::Waiting, H::DelayOver, {L::Restarting, S::Start}},
    {L::Waiting, H::Rested, {L::Restarting, S::Start}},
    {L::Waiting, H::Unused, {L::Empty, S::Revive}},
    {L::Waiting, H::Retired, {L::Empty, S::Revive}},

    {L::Restarting, H::Opened, {L::Ready, S::Attach}},
    {L::Restarting, H::Unfit, {L::Dying, S::End}},
    {L::Restarting, H::Lost, {L::Dying, S::None}},
    {L::Restarting, H::Unused, {L::Ending, S::End}},
    {L::Restarting, H::Retired, {L::Ending, S::End}},

    {L::Broken, H::Asked, {L::Broken, S::Refuse}},
    {L::Broken, H::Unused, {L::Empty, S::Revive}},
    {L::Broken, H::Retired, {L::Empty, S::Revive}},
    {L::Broken, H::Rested, {L::Empty, S::Revive}},
});

/// What changes nothing: because who asks just waits, or because it cannot happen.
struct Idle {
  Life life;
  std::array<Happening, kHappenings> happenings;
  std::size_t count;
};

template <class... Happenings>
constexpr Idle ignores(Life life, Happenings... happenings) {
  return {life, {happenings...}, sizeof...(happenings)};
}

constexpr std::array kIgnored = std::to_array<Idle>({
    ignores(L::Empty, H::Opened, H::Unfit, H::Lost, H::Gone, H::GoneTooOften, H::DelayOver, H::Unused,
            H::Hung, H::Retired, H::Drained, H::Rested),
    ignores(L::Starting, H::Asked, H::Gone, H::GoneTooOften, H::DelayOver, H::Hung, H::Drained, H::Rested),
    ignores(L::Failing, H::Asked, H::Opened, H::Unfit, H::Lost, H::DelayOver, H::Hung, H::Retired, H::Drained,
            H::Rested),
    ignores(L::Ready, H::Opened, H::Unfit, H::Gone, H::GoneTooOften, H::DelayOver, H::Drained, H::Rested),
    ignores(L::Draining, H::Asked, H::Opened, H::Unfit, H::Gone, H::GoneTooOften, H::DelayOver, H::Retired,
            H::Rested),
    ignores(L::Ending, H::Asked, H::Opened, H::Unfit, H::Lost, H::DelayOver, H::Unused, H::Hung, H::Retired,
            H::Drained, H::Rested),
    ignores(L::Dying, H::Asked, H::Opened, H::Unfit, H::Lost, H::DelayOver, H::Hung, H::Drained, H::Rested),
    ignores(L::Waiting, H::Asked, H::Opened, H::Unfit, H::Lost, H::Gone, H::GoneTooOften, H::Hung,
            H::Drained),
    ignores(L::Restarting, H::Asked, H::Gone, H::GoneTooOften, H::DelayOver, H::Hung, H::Drained, H::Rested),
    ignores(L::Broken, H::Opened, H::Unfit, H::Lost, H::Gone, H::GoneTooOften, H::DelayOver, H::Hung,
            H::Drained),
});

constexpr std::size_t times_covered(Life life, Happening happening) {
  std::size_t times = 0;
  for (const Rule& rule : kRules) times += rule.life == life && rule.happening == happening ? 1 : 0;
  for (const Idle& idle : kIgnored) {
    for (std::size_t i = 0; i < idle.count; ++i) {
      times += idle.life == life && idle.happenings[i] == happening ? 1 : 0;
    }
  }
  return times;
}

constexpr bool every_pair_once() {
  for (std::size_t life = 0; life < kLives; ++life) {
    for (std::size_t happening = 0; happening < kHappenings; ++happening) {
      if (times_covered(static_cast<Life>(life), static_cast<Happening>(happening)) != 1) return false;
    }
  }
  return true;
}
static_assert(every_pair_once(), "each pair of life and happening stands in exactly one of the two lists");

}  // namespace

Next next(Life life, Happening happening) {
  for (const Rule& rule : kRules) {
    if (rule.life == life && rule.happening == happening) return rule.next;
  }
  return {life, Step::None};
}

const char* life_name(Life life) {
  switch (life) {
    case Life::Empty: return "empty";
    case Life::Starting: return "starting";
    case Life::Failing: return "failing";
    case Life::Ready: return "ready";
    case Life::Draining: return "draining";
    case Life::Ending: return "ending";
    case Life::Dying: return "dying";
    case Life::Waiting: return "waiting";
    case Life::Restarting: return "restarting";
    case Life::Broken: return "broken";
  }
  return "?";
}

}  // namespace corral::pool
