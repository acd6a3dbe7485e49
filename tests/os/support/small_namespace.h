// A small PID namespace in which a test decides who gets which number.
#pragma once

#include <sys/types.h>

#include <functional>

#include "support/platform.h"

namespace corral::os_tests {

constexpr int kNoNamespace = 90;

/// Runs the body as process 1 of a PID namespace with a /proc of its own; its return value comes back.
int in_small_namespace(User user, const std::function<int()>& body);

/// A child with this very number, or -1 if somebody else has it; 0 = any. It waits to be killed, for a minute
/// at most. Only in such a namespace.
pid_t fork_as(pid_t number);

void end_and_reap(pid_t pid);
bool runs(pid_t pid);  // a child that is neither gone nor a zombie

/// Waits until the clock behind start times has moved on.
void let_a_tick_pass();

}  // namespace corral::os_tests
