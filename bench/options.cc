#include "options.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string_view>

namespace corral::bench {
namespace {

constexpr const char* kHelp =
    "Usage: run_bench [options]\n"
    "\n"
    "Measures `corral run` against a raw pipe to the same server, and `corral connect` against an ideal\n"
    "forwarder, side by side in one run.\n"
    "\n"
    "  --corral PATH       the corral to measure (default: beside this program)\n"
    "  --echo-server PATH  the server to talk to (default: beside this program)\n"
    "  --json FILE         also write all numbers as JSON\n"
    "  --only NAME         one of round-trip, start, memory, kill, end, doctor, adopt, ps, reconcile, "
    "registry,\n"
    "                      connect (all of it),\n"
    "                      connect-round-trip, connect-throughput, connect-sizes, connect-attach,\n"
    "                      connect-start, connect-bridge, connect-memory, connect-hostile,\n"
    "                      connect-restart, connect-parked, connect-peers, http (all of it),\n"
    "                      http-round-trip, http-throughput, http-sizes, http-attach, http-memory\n"
    "  --peers DIR         also measure other proxies, from the directory that bench/peers/install filled\n"
    "  --quick             fewer rounds: a first look, not a result\n"
    "  --processes N       size of the tree that is killed (default 500)\n"
    "  --sessions N        how many run at once for the memory measurement (default 20)\n"
    "  --strict-budgets    exit with 1 if a budget is exceeded\n"
    "  --help\n";

constexpr std::array<std::string_view, 28> kNames{"round-trip",
                                                  "start",
                                                  "memory",
                                                  "kill",
                                                  "end",
                                                  "doctor",
                                                  "adopt",
                                                  "ps",
                                                  "reconcile",
                                                  "registry",
                                                  "connect",
                                                  "connect-round-trip",
                                                  "connect-throughput",
                                                  "connect-sizes",
                                                  "connect-attach",
                                                  "connect-start",
                                                  "connect-bridge",
                                                  "connect-memory",
                                                  "connect-hostile",
                                                  "connect-restart",
                                                  "connect-parked",
                                                  "connect-peers",
                                                  "http",
                                                  "http-round-trip",
                                                  "http-throughput",
                                                  "http-sizes",
                                                  "http-attach",
                                                  "http-memory"};

int positive(const std::string& option, const std::string& text) {
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < 1 || value > 10000) {
    throw std::runtime_error(option + " wants a number from 1 to 10000, not '" + text + "'");
  }
  return static_cast<int>(value);
}

std::string checked_name(const std::string& name) {
  for (std::string_view known : kNames) {
    if (name == known) return name;
  }
  throw std::runtime_error("--only: no measurement is called '" + name + "'; see --help");
}

std::string checked_program(const std::string& option, const std::string& path) {
  if (access(path.c_str(), X_OK) != 0) {
    throw std::runtime_error("no program at " + path + "; build it, or name another with " + option);
  }
  return std::filesystem::absolute(path).string();
}

}  // namespace

Options parse_options(int argc, char** argv) {
  Options options;
  const std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  options.corral = (here / "corral").string();
  options.echo_server = (here / "echo_server").string();
  options.ideal_forwarder = (here / "ideal_forwarder").string();

  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const auto value = [&]() -> std::string {
      if (i + 1 >= argc) throw std::runtime_error(option + " wants a value");
      return argv[++i];
    };
    if (option == "--help") {
      std::fputs(kHelp, stdout);
      std::exit(0);
    } else if (option == "--quick") {
      options.quick = true;
    } else if (option == "--strict-budgets") {
      options.strict_budgets = true;
    } else if (option == "--corral") {
      options.corral = value();
    } else if (option == "--echo-server") {
      options.echo_server = value();
    } else if (option == "--peers") {
      options.peers = std::filesystem::absolute(value()).string();
    } else if (option == "--json") {
      options.json = value();
    } else if (option == "--only") {
      options.only = checked_name(value());
    } else if (option == "--processes") {
      options.processes = positive(option, value());
    } else if (option == "--sessions") {
      options.sessions = positive(option, value());
    } else {
      throw std::runtime_error("unknown option " + option + "; see --help");
    }
  }
  options.corral = checked_program("--corral", options.corral);
  options.echo_server = checked_program("--echo-server", options.echo_server);
  return options;
}

bool wanted(const Options& options, const std::string& name) {
  return options.only.empty() || options.only == name ||
         (options.only == "connect" && name.starts_with("connect-")) ||
         (options.only == "http" && name.starts_with("http-"));
}

}  // namespace corral::bench
