// Identifiers that no other process and no other machine has.
#pragma once

#include <cstddef>
#include <string>

namespace corral {

/// Returns `bytes` random bytes as hexadecimal text, two digits per byte: names that cannot be guessed and do
/// not repeat. Aborts if the kernel has no random numbers.
std::string random_hex(std::size_t bytes);

/// The identity of this machine. Stays the same for as long as the operating system is installed; empty if
/// the system has no machine id.
std::string machine_id();

}  // namespace corral
