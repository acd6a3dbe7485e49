// Makes events from what happens to a slot and its instances. Free functions: they read the slot and change
// nothing. The text of an event is one sentence for people; `cause` is the word for metrics and scripts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "events/event.h"
#include "pool/slot.h"

namespace corral::pool {

events::Event started_event(const Slot& slot);
events::Event ready_event(const Slot& slot);
/// The waiting session was attached to the instance of the slot.
events::Event attached_event(const Slot& slot, const Waiter& waiter);
/// With what the server wrote last to stderr: events are for the user, not for a session.
events::Event crashed_event(const Slot& slot, const router::LastWords& why);
events::Event stopping_event(const Slot& slot);
/// Any other event. `error_output`: the end of the server's stderr, if the event is a failure.
events::Event slot_event(const Slot& slot, events::Kind kind, const std::string& cause,
                         const std::string& sentence, std::string_view error_output = {});

/// The end of an instance with its evidence: one event, and one more for each further surviving process.
std::vector<events::Event> ended_events(const InstanceEnd& ended);

/// The session was answered from what is known; its server was not started.
events::Event answered_without_instance_event(const router::SessionPort& port, const ServerSpec& spec);

}  // namespace corral::pool
