// Configuration files of clients, in both formats: servers or a note, never a crash.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "known/client_configs.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace corral;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const known::ConfigPlaces places{"/nowhere", {"A=b", "PATH=/nowhere"}, {}};
  for (const char* id : {"claude-code", "codex", "zed"}) {
    const known::KnownClient& client = *known::find_client(id);
    for (const known::ConfigFile& place : client.configs) {
      const known::Configurations found = known::parse_client_config(text, place, "file", client, places);
      if (found.files.empty() && found.notes.empty()) abort();
      for (const known::ConfiguredServer& server : found.servers) {
        if (server.client != id || (server.argv.empty() && !server.command.key.empty())) abort();
      }
    }
  }
  return 0;
}
