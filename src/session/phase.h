// The phases of a session between its first message and its instance: a pure table that gives the next phase
// for a phase and an event. `Attachment` is the only user.
#pragma once

#include <cstddef>
#include <cstdint>

namespace corral::session {

enum class Phase : std::uint8_t {
  New,        // the client has sent no request yet
  Opening,    // its first request waits for an instance
  Ready,      // attached to an instance
  Away,       // opened, without an instance until the next call that needs one
  Returning,  // opened, and waiting for an instance
};
inline constexpr std::size_t kPhases = 5;

enum class PhaseEvent : std::uint8_t {
  FirstRequest,   // the client opens the session
  Known,          // it was answered from a manifest
  GreetedEarly,   // it was answered without waiting any longer for the instance
  InstanceReady,  // it is attached to an instance
  NoInstance,     // it gets no instance
  InstanceLost,   // it was detached from its instance
  InstanceAsked,  // an instance was requested for a session that is open
  Reset,          // the client begins again with another handshake
};
inline constexpr std::size_t kPhaseEvents = 8;

/// An event without a meaning in a phase does not change the phase.
Phase next(Phase phase, PhaseEvent event);

}  // namespace corral::session
