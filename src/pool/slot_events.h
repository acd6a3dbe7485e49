// What happens to a slot and its instances, as events. Free functions: they read the slot and decide nothing.
// Each text is one sentence for people; `cause` is the word that metrics and scripts look at.
#pragma once

#include <string>
#include <vector>

#include "events/event.h"
#include "pool/slot.h"

namespace corral::pool {

events::Event started_event(const Slot& slot);
events::Event ready_event(const Slot& slot);
/// The waiting session got the instance of the slot.
events::Event attached_event(const Slot& slot, const Waiter& waiter);
/// The event leaves out what the server wrote to stderr.
events::Event crashed_event(const Slot& slot, const router::LastWords& why);
events::Event stopping_event(const Slot& slot);
/// Any other event.
events::Event slot_event(const Slot& slot, events::Kind kind, const std::string& cause,
                         const std::string& sentence);

/// The end with its evidence: one event, and one more for each further process that survived.
std::vector<events::Event> ended_events(const InstanceEnd& gone);

/// The session was told what is known of the server, which was not started for it.
events::Event answered_without_instance_event(const router::SessionPort& port, const ServerSpec& spec);

}  // namespace corral::pool
