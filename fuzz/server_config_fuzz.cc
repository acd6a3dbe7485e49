// The daemon's configuration: values or an error with a place, never a crash; and what is merged into a file
// can be read again.
#include <boost/json.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "config/configuration.h"
#include "config/import.h"
#include "config/merge.h"
#include "config/show.h"

namespace {

using namespace corral::config;

void check_servers(const Configuration& configuration) {
  for (const Server& server : configuration.servers) {
    if (server.argv.empty() || server.argv.front().empty() || server.name == "corral") abort();
    if (server.line < 1 || configuration.find(server.name) == nullptr) abort();
    const corral::Result<Server> expanded =
        expand(server, {"A=b", "HOME=/h", "LONG=" + std::string(5000, 'x')});
    if (expanded ? expanded->argv.size() != server.argv.size() : expanded.error().message.empty()) abort();
    allows_tool(server, "read_file");
  }
  boost::json::error_code error;
  boost::json::parse(to_json(configuration), error);
  if (error) abort();
}

void check_merge(const std::string& text, const Configuration& before) {
  const corral::Result<Merge> merge = merge_servers(
      text, "f", {{"zz new", {{"command", "x"}}}, {"a", {{"command", "y"}}}}, Existing::Replace);
  if (!merge) abort();  // what could be read before can be read afterwards
  const corral::Result<Configuration> after = parse(merge->text, "f");
  if (!after || after->find("zz new") == nullptr || after->servers.size() < before.servers.size()) abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const corral::Result<Configuration> parsed = parse(text, "f");
  if (parsed) {
    check_servers(*parsed);
    check_merge(text, *parsed);
  } else if (!parsed.error().message.starts_with("f:")) {
    abort();
  }
  for (const char* file : {"f.json", "f.toml"}) {
    const corral::Result<Import> imported = import_servers(text, file);
    if (imported && !merge_servers("", "f", imported->servers, Existing::Keep)) abort();
  }
  return 0;
}
