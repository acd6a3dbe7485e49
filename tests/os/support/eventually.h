// The only way in which these tests wait: for something to become true, with one generous limit
// for all of them.
#pragma once

#include <chrono>
#include <thread>

namespace corral::os_tests {

constexpr std::chrono::seconds kPatience{15};

template <typename Claim>
bool eventually(Claim claim) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  for (auto pause = std::chrono::milliseconds{1};;) {
    if (claim()) return true;
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(pause);
    if (pause < std::chrono::milliseconds{20}) pause *= 2;
  }
}

}  // namespace corral::os_tests
