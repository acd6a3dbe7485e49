#include "pool/lifecycle.h"

#include <array>

namespace corral::pool {
namespace {

using L = Life;
using T = Trigger;
using S = Step;

struct Rule {
  Life life;
  Trigger trigger;
  Next next;
};

constexpr std::array kRules = std::to_array<Rule>({
    {L::Empty, T::Asked, {L::Starting, S::Start}},

    {L::Starting, T::Opened, {L::Ready, S::Attach}},
    {L::Starting, T::Unfit, {L::Failing, S::End}},
    {L::Starting, T::Lost, {L::Failing, S::None}},
    {L::Starting, T::Unused, {L::Ending, S::End}},
    {L::Starting, T::Retired, {L::Ending, S::End}},

    {L::Failing, T::Ended, {L::Empty, S::Refuse}},
    {L::Failing, T::DiedTooOften, {L::Empty, S::Refuse}},
    {L::Failing, T::Unused, {L::Ending, S::None}},

    {L::Ready, T::Asked, {L::Ready, S::Attach}},
    {L::Ready, T::Lost, {L::Dying, S::None}},
    {L::Ready, T::Unused, {L::Ending, S::End}},
    {L::Ready, T::Hung, {L::Dying, S::Kill}},
    {L::Ready, T::Retired, {L::Draining, S::Drain}},

    {L::Draining, T::Lost, {L::Ending, S::None}},
    {L::Draining, T::Unused, {L::Ending, S::End}},
    {L::Draining, T::Hung, {L::Ending, S::Kill}},
    {L::Draining, T::Drained, {L::Ending, S::End}},

    {L::Ending, T::Ended, {L::Empty, S::Revive}},
    {L::Ending, T::DiedTooOften, {L::Empty, S::Revive}},

    {L::Dying, T::Ended, {L::Waiting, S::Delay}},
    {L::Dying, T::DiedTooOften, {L::Broken, S::Refuse}},
    {L::Dying, T::Unused, {L::Ending, S::None}},
    {L::Dying, T::Retired, {L::Ending, S::None}},

    {L::Waiting, T::DelayOver, {L::Restarting, S::Start}},
    {L::Waiting, T::Rested, {L::Restarting, S::Start}},
    {L::Waiting, T::Unused, {L::Empty, S::Revive}},
    {L::Waiting, T::Retired, {L::Empty, S::Revive}},

    {L::Restarting, T::Opened, {L::Ready, S::Attach}},
    {L::Restarting, T::Unfit, {L::Dying, S::End}},
    {L::Restarting, T::Lost, {L::Dying, S::None}},
    {L::Restarting, T::Unused, {L::Ending, S::End}},
    {L::Restarting, T::Retired, {L::Ending, S::End}},

    {L::Broken, T::Asked, {L::Broken, S::Refuse}},
    {L::Broken, T::Unused, {L::Empty, S::Revive}},
    {L::Broken, T::Retired, {L::Empty, S::Revive}},
    {L::Broken, T::Rested, {L::Empty, S::Revive}},
});

/// The pairs that change nothing: the session just waits, or the pair cannot occur.
struct Idle {
  Life life;
  std::array<Trigger, kTriggers> triggers;
  std::size_t count;
};

template <class... Triggers>
constexpr Idle ignores(Life life, Triggers... triggers) {
  return {life, {triggers...}, sizeof...(triggers)};
}

constexpr std::array kIgnored = std::to_array<Idle>({
    ignores(L::Empty, T::Opened, T::Unfit, T::Lost, T::Ended, T::DiedTooOften, T::DelayOver, T::Unused,
            T::Hung, T::Retired, T::Drained, T::Rested),
    ignores(L::Starting, T::Asked, T::Ended, T::DiedTooOften, T::DelayOver, T::Hung, T::Drained, T::Rested),
    ignores(L::Failing, T::Asked, T::Opened, T::Unfit, T::Lost, T::DelayOver, T::Hung, T::Retired, T::Drained,
            T::Rested),
    ignores(L::Ready, T::Opened, T::Unfit, T::Ended, T::DiedTooOften, T::DelayOver, T::Drained, T::Rested),
    ignores(L::Draining, T::Asked, T::Opened, T::Unfit, T::Ended, T::DiedTooOften, T::DelayOver, T::Retired,
            T::Rested),
    ignores(L::Ending, T::Asked, T::Opened, T::Unfit, T::Lost, T::DelayOver, T::Unused, T::Hung, T::Retired,
            T::Drained, T::Rested),
    ignores(L::Dying, T::Asked, T::Opened, T::Unfit, T::Lost, T::DelayOver, T::Hung, T::Drained, T::Rested),
    ignores(L::Waiting, T::Asked, T::Opened, T::Unfit, T::Lost, T::Ended, T::DiedTooOften, T::Hung,
            T::Drained),
    ignores(L::Restarting, T::Asked, T::Ended, T::DiedTooOften, T::DelayOver, T::Hung, T::Drained, T::Rested),
    ignores(L::Broken, T::Opened, T::Unfit, T::Lost, T::Ended, T::DiedTooOften, T::DelayOver, T::Hung,
            T::Drained),
});

constexpr std::size_t times_covered(Life life, Trigger trigger) {
  std::size_t times = 0;
  for (const Rule& rule : kRules) times += rule.life == life && rule.trigger == trigger ? 1 : 0;
  for (const Idle& idle : kIgnored) {
    for (std::size_t i = 0; i < idle.count; ++i) {
      times += idle.life == life && idle.triggers[i] == trigger ? 1 : 0;
    }
  }
  return times;
}

constexpr bool every_pair_once() {
  for (std::size_t life = 0; life < kLives; ++life) {
    for (std::size_t trigger = 0; trigger < kTriggers; ++trigger) {
      if (times_covered(static_cast<Life>(life), static_cast<Trigger>(trigger)) != 1) return false;
    }
  }
  return true;
}
static_assert(every_pair_once(), "each pair of life and trigger is in exactly one of the two lists");

}  // namespace

Next next(Life life, Trigger trigger) {
  for (const Rule& rule : kRules) {
    if (rule.life == life && rule.trigger == trigger) return rule.next;
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
