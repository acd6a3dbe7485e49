// Lines for the control server: every request is answered exactly once with its id, every line that is not a
// message once, and nothing else is answered; whatever goes out is one line of JSON.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "observe/control_server.h"
#include "observe/control_tools.h"
#include "wire/json_text.h"

namespace {

using namespace corral;

std::vector<observe::Tool> tools() {
  std::vector<observe::Tool> all = observe::control_tools({});
  for (observe::Tool& tool : all) {
    tool.run = [name = tool.name](const boost::json::object& arguments) {
      const std::string text = observe::text_argument(arguments, "server");
      const bool flag = observe::flag_argument(arguments, "confirm");
      const std::int64_t lines = observe::number_argument(arguments, "lines", 100);
      if (lines < 1 || lines > observe::kMostLogLines) abort();
      return observe::ToolResult{flag, name + text, R"({"server":)" + wire::quoted(text) + "}"};
    };
  }
  return all;
}

std::size_t answers_due(const wire::Message& message) {
  return message.kind() == wire::Kind::Notification || message.kind() == wire::Kind::Response ? 0 : 1;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> sent;
  observe::ControlServer server(tools(),
                                {"1.0.0", [&sent](const std::string& message) { sent.push_back(message); },
                                 [](const std::function<void()>& job, const std::function<void()>& done) {
                                   job();
                                   done();
                                 }});
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.empty()) continue;
    const wire::Message said(line);
    sent.clear();
    server.take(line);
    if (said.kind() != wire::Kind::Batch && sent.size() != answers_due(said)) abort();
    for (const std::string& message : sent) {
      if (message.find('\n') != std::string::npos || !wire::is_strict_object(message)) abort();
    }
    if (said.kind() == wire::Kind::Request && wire::member_text(sent[0], "id") != said.id()) abort();
  }
  if (server.open_calls() != 0) abort();
  return 0;
}
