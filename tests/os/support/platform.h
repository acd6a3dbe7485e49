// What this machine and this user allow, asked of the kernel and never of corral: a test may be left out only
// for a reason that corral cannot cause.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace corral::os_tests {

// Whether the programs under test carry the run-time of a sanitizer, which has needs of its own.
constexpr bool kSanitized = CORRAL_SANITIZED;

enum class User { Root, Ordinary };
enum class Level { Auto, Basic, Strict };

const char* name(User user);
const char* name(Level level);

bool running_as_root();

// The user that the program under test gets; no value means "stay who you are". Ordinary is a uid that has
// neither an account nor any other process.
std::optional<uid_t> uid_of(User user);

// A uid that no other test uses, for tests that count the processes of a user. Only as root.
uid_t fresh_uid();

// In a forked child: become this user for good, without supplementary groups.
void become(uid_t uid);

// Why this user cannot make a PID namespace with its own /proc here, or nothing if it can.
std::optional<std::string> why_no_pid_namespace(User user);

// The programs under test, at a place that every user can reach.
struct Programs {
  std::string corral;
  std::string keeper;
  std::string adversary;
  std::string relay_client;
  std::string fake_docker;
  std::string container_server;
  std::string interactive_client;
  std::string leaky_client;
};

const Programs& programs();

}  // namespace corral::os_tests
