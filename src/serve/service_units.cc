#include "serve/service_units.h"

#include <algorithm>
#include <string_view>

namespace corral::serve {
namespace {

std::string marked(const std::string& body) { return std::string("# ") + kUnitMark + "\n" + body; }

std::string xml_text(const std::string& text) {
  std::string result;
  for (const char letter : text) {
    switch (letter) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      default: result += letter;
    }
  }
  return result;
}

std::string xml_string(const std::string& text) { return "<string>" + xml_text(text) + "</string>"; }

}  // namespace

std::string systemd_word(const std::string& word) {
  constexpr std::string_view kPlain = "/._-+:,@%=";
  bool plain = !word.empty();
  std::string text;
  for (const char letter : word) {
    const bool letter_or_digit = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                                 (letter >= '0' && letter <= '9');
    plain = plain && (letter_or_digit || kPlain.find(letter) != std::string_view::npos);
    if (letter == '%' || letter == '$') text += letter;  // doubled: no specifier, no variable
    if (letter == '"' || letter == '\\') text += '\\';
    text += letter;
  }
  return plain ? text : "\"" + text + "\"";
}

std::string service_unit_body(const std::string& exec_start, const std::string& environment_path) {
  const std::string environment = environment_path.empty()
                                      ? ""
                                      : "# For servers that clients use by URL: such clients pass no "
                                        "environment variables.\nEnvironment=" +
                                            environment_path + "\n";
  return R"([Unit]
Description=corral, keeper of MCP servers
Requires=corral.socket
After=corral.socket

[Service]
Type=notify
# The janitor is the main process; the daemon below it sends the notifications.
NotifyAccess=all
ExecStart=)" +
         exec_start + "\n" + environment +
         R"(# SIGTERM to the janitor alone, which passes it on. SIGKILL to whatever is left at the end.
KillMode=mixed
TimeoutStopSec=40
WatchdogSec=30
Restart=on-failure
RestartSec=1
# Each server gets a cgroup of its own below ours.
Delegate=yes

[Install]
WantedBy=default.target
)";
}

std::string socket_unit_body(std::optional<std::uint16_t> port) {
  const std::string tcp_line =
      port ? "# For clients that connect by URL.\nListenStream=127.0.0.1:" + std::to_string(*port) + "\n"
           : "";
  return R"(# The socket that clients connect to; %t is /run/user/UID. The first client starts it.
[Unit]
Description=corral, the socket of its daemon

[Socket]
ListenStream=%t/corral/corral.sock
)" + tcp_line +
         R"(SocketMode=0600
DirectoryMode=0700
# Kept while the daemon is restarted: clients that connect meanwhile wait.
RemoveOnStop=yes

[Install]
WantedBy=sockets.target
)";
}

std::string service_unit(const UnitFacts& facts) {
  std::string command = systemd_word(facts.program) + " serve";
  if (!facts.config.empty()) command += " --config " + systemd_word(facts.config);
  return marked(service_unit_body(command, facts.path.empty() ? "" : systemd_word("PATH=" + facts.path)));
}

std::string socket_unit(const UnitFacts& facts) { return marked(socket_unit_body(facts.port)); }

std::string launchd_agent(const UnitFacts& facts) {
  std::string words = "    " + xml_string(facts.program) + "\n    <string>serve</string>\n";
  const auto add = [&words](const std::string& option, const std::string& value) {
    words += "    " + xml_string(option) + "\n    " + xml_string(value) + "\n";
  };
  if (!facts.config.empty()) add("--config", facts.config);
  // launchd passes sockets through its own API, so the daemon opens the port itself.
  if (facts.port) add("--port", std::to_string(*facts.port));
  const std::string environment = facts.path.empty() ? ""
                                                     : "  <key>EnvironmentVariables</key>\n  <dict>\n    "
                                                       "<key>PATH</key>\n    " +
                                                           xml_string(facts.path) + "\n  </dict>\n";
  return R"(<?xml version="1.0" encoding="UTF-8"?>
<!-- )" + std::string(kUnitMark) +
         R"( -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>dev.corral.daemon</string>
  <key>ProgramArguments</key>
  <array>
)" + words +
         R"(  </array>
)" + environment +
         R"(  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <!-- The janitor ends what is left, and needs its time. -->
  <key>ExitTimeOut</key>
  <integer>40</integer>
</dict>
</plist>
)";
}

bool has_unit_mark(const std::string& text) {
  const std::string_view beginning(text.data(), std::min<std::size_t>(text.size(), 512));
  return beginning.find(kUnitMark) != std::string_view::npos;
}

}  // namespace corral::serve
