#include "base/unique_id.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <set>
#include <string>

#include "base/files.h"

namespace corral {
namespace {

/// A digit that never comes in some place makes ids that can be guessed, or meet, much sooner than they
/// should.
TEST(RandomHex, HasEveryDigitInEveryPlace) {
  std::array<std::set<char>, 8> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string text = random_hex(4);
    ASSERT_EQ(text.size(), seen.size());
    for (std::size_t at = 0; at < seen.size(); ++at) seen[at].insert(text[at]);
  }

  const std::string digits = "0123456789abcdef";
  for (const std::set<char>& place : seen) EXPECT_EQ(std::string(place.begin(), place.end()), digits);
}

TEST(RandomHex, IsNeverTheSame) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(random_hex(16));

  EXPECT_EQ(seen.size(), 1000U);
}

TEST(RandomNumber, UsesEveryBit) {
  std::uint32_t ones = 0;
  std::uint32_t zeros = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::uint32_t number = random_number();
    ones |= number;
    zeros |= ~number;
  }

  EXPECT_EQ(ones, 0xFFFFFFFFU);
  EXPECT_EQ(zeros, 0xFFFFFFFFU);
}

TEST(MachineId, IsTheFirstLineOfAFileThatEverySystemHas) {
  std::string expected = read_text("/etc/machine-id");
  if (expected.empty()) expected = read_text("/var/lib/dbus/machine-id");
  EXPECT_EQ(machine_id(), expected.substr(0, expected.find('\n')));
}

TEST(BootId, IsTheLineOfTheKernelsFile) {
  const std::string expected = read_text("/proc/sys/kernel/random/boot_id");

  EXPECT_EQ(boot_id().size(), 36U);
  EXPECT_EQ(boot_id() + "\n", expected);
}

}  // namespace
}  // namespace corral
