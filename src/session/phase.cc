#include "session/phase.h"

#include <array>

namespace corral::session {
namespace {

using P = Phase;
using E = PhaseEvent;

struct Rule {
  Phase phase;
  PhaseEvent event;
  Phase next;
};

// Every pair has an entry, so that a new phase or event must be considered here.
constexpr std::array kRules = std::to_array<Rule>({
    {P::New, E::FirstRequest, P::Opening},
    {P::New, E::Known, P::New},
    {P::New, E::GreetedEarly, P::New},
    {P::New, E::InstanceReady, P::New},
    {P::New, E::NoInstance, P::New},
    {P::New, E::InstanceLost, P::Away},
    {P::New, E::InstanceAsked, P::New},
    {P::New, E::Reset, P::New},

    {P::Opening, E::FirstRequest, P::Opening},
    {P::Opening, E::Known, P::Away},
    {P::Opening, E::GreetedEarly, P::Returning},
    {P::Opening, E::InstanceReady, P::Ready},
    {P::Opening, E::NoInstance, P::New},
    {P::Opening, E::InstanceLost, P::Away},
    {P::Opening, E::InstanceAsked, P::Opening},
    {P::Opening, E::Reset, P::New},

    {P::Ready, E::FirstRequest, P::Ready},
    {P::Ready, E::Known, P::Ready},
    {P::Ready, E::GreetedEarly, P::Ready},
    {P::Ready, E::InstanceReady, P::Ready},
    {P::Ready, E::NoInstance, P::Away},
    {P::Ready, E::InstanceLost, P::Away},
    {P::Ready, E::InstanceAsked, P::Returning},
    {P::Ready, E::Reset, P::New},

    {P::Away, E::FirstRequest, P::Away},
    {P::Away, E::Known, P::Away},
    {P::Away, E::GreetedEarly, P::Away},
    {P::Away, E::InstanceReady, P::Ready},
    {P::Away, E::NoInstance, P::Away},
    {P::Away, E::InstanceLost, P::Away},
    {P::Away, E::InstanceAsked, P::Returning},
    {P::Away, E::Reset, P::New},

    {P::Returning, E::FirstRequest, P::Returning},
    {P::Returning, E::Known, P::Returning},
    {P::Returning, E::GreetedEarly, P::Returning},
    {P::Returning, E::InstanceReady, P::Ready},
    {P::Returning, E::NoInstance, P::Away},
    {P::Returning, E::InstanceLost, P::Away},
    {P::Returning, E::InstanceAsked, P::Returning},
    {P::Returning, E::Reset, P::New},
});

constexpr bool every_pair_in_order() {
  if (kRules.size() != kPhases * kPhaseEvents) return false;
  for (std::size_t i = 0; i < kRules.size(); ++i) {
    const bool here = static_cast<std::size_t>(kRules[i].phase) == i / kPhaseEvents &&
                      static_cast<std::size_t>(kRules[i].event) == i % kPhaseEvents;
    if (!here) return false;
  }
  return true;
}
static_assert(every_pair_in_order(),
              "each pair of phase and event is listed once, in the order of the enums");

}  // namespace

Phase next(Phase phase, PhaseEvent event) {
  return kRules[static_cast<std::size_t>(phase) * kPhaseEvents + static_cast<std::size_t>(event)].next;
}

}  // namespace corral::session
