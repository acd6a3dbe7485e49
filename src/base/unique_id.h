// Identifiers that no other process, machine or boot has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace corral {

/// Returns `bytes` random bytes as hexadecimal text, two digits per byte: names that cannot be guessed and do
/// not repeat. Aborts if the kernel has no random numbers.
std::string random_hex(std::size_t bytes);

/// One random number, to begin a sequence with. Not std::random_device: it would need a newer C library than
/// the rest of corral.
std::uint32_t random_number();

/// The identity of this machine. Stays the same for as long as the operating system is installed; empty if
/// the system has no machine id.
std::string machine_id();

/// The identity of the present boot of the kernel; empty if /proc is missing.
std::string boot_id();

}  // namespace corral
