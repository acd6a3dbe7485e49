// The daemon's configuration: values or an error with a place, never a crash; what is merged into a file can
// be read again; and any server can be removed from it without changing another one.
#include <algorithm>
#include <boost/json.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "config/changes.h"
#include "config/configuration.h"
#include "config/import.h"
#include "config/merge.h"
#include "config/removal.h"
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
  const corral::Result<std::string> undone = remove_server(merge->text, "f", "zz new");
  if (!undone || parse(*undone, "f")->servers.size() + 1 != after->servers.size()) abort();
}

void check_removal(const std::string& text, const Configuration& before) {
  const Changes none = changes(before, before);
  if (!none.added.empty() || !none.removed.empty() || !none.changed.empty()) abort();
  constexpr std::size_t kMost = 8;  // a file can have thousands, and each is a parse
  std::string rest = text;
  for (std::size_t i = 0; i < std::min(kMost, before.servers.size()); ++i) {
    const std::string& name = before.servers[i].name;
    const corral::Result<std::string> alone = remove_server(text, "f", name);
    if (!alone || alone->size() >= text.size()) abort();
    const Changes found = changes(before, *parse(*alone, "f"));
    if (found.removed != std::vector<std::string>{name} || !found.added.empty() || !found.changed.empty())
      abort();
    corral::Result<std::string> one_less = remove_server(rest, "f", name);
    if (!one_less) abort();
    rest = std::move(*one_less);
  }
}

/// Whatever a user writes, what the machine's file locks stays as it is.
void check_locks(const std::string& text) {
  static const Configuration machine = *parse_machine(R"({"mcpServers": {"docs": {"command": "d"}},
                         "corral": {"keep": 3, "locked": ["keep", "http", "share", "servers.docs"]}})",
                                                      "m");
  const corral::Result<Configuration> above = parse(text, "f", machine);
  if (!above) return;
  if (above->options.keep != 3 || above->options.http != machine.options.http) abort();
  for (const Server& server : above->servers) {
    if (server.share != Share::Auto) abort();
  }
  const Server* const docs = above->find("docs");
  if (docs == nullptr || docs->file != "m") abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const corral::Result<Configuration> parsed = parse(text, "f");
  if (parsed) {
    check_servers(*parsed);
    check_merge(text, *parsed);
    check_removal(text, *parsed);
  } else if (!parsed.error().message.starts_with("f:")) {
    abort();
  }
  check_locks(text);
  const corral::Result<Configuration> machine = parse_machine(text, "m");
  if (!machine && !machine.error().message.starts_with("m:")) abort();
  for (const char* file : {"f.json", "f.toml"}) {
    const corral::Result<Import> imported = import_servers(text, file);
    if (imported && !merge_servers("", "f", imported->servers, Existing::Keep)) abort();
  }
  return 0;
}
