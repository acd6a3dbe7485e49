// Configuration files as people and clients really write them: comments, odd indentation, CRLF, a byte order
// mark, scopes of projects, and keys of other tools. The numbers say what is in each file.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace corral::adopt {

struct Sample {
  std::string title;   // names the test
  std::string client;  // id
  std::string path;    // below the home directory
  std::string text;
  std::size_t wrapped = 0;  // servers that corral goes in front of
  std::size_t refused = 0;
};

inline void PrintTo(const Sample& sample, std::ostream* out) { *out << sample.title; }

/// With "\r\n" in place of "\n".
inline std::string with_crlf(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '\n' ? "\r\n" : std::string(1, c);
  return result;
}

inline const std::vector<Sample> kSamples = {
    {"ClaudeCode", "claude-code", ".claude.json",
     R"({
  "numStartups": 41,
  "tipsHistory": {"new-user-warmup": 3},
  "mcpServers": {
    "files": {
      "type": "stdio",
      "command": "npx",
      "args": [
        "-y",
        "@modelcontextprotocol/server-filesystem",
        "/srv/docs"
      ],
      "env": {}
    },
    "sentry": {"type": "http", "url": "https://mcp.sentry.dev/mcp"}
  },
  "projects": {
    "/srv/app": {
      "allowedTools": [],
      "mcpServers": {
        "db": {"type": "stdio", "command": "uvx", "args": ["mcp-server-sqlite", "--db-path", "a.db"], "env": {}}
      },
      "hasTrustDialogAccepted": true
    },
    "/srv/empty": {"mcpServers": {}}
  },
  "userID": "0123"
}
)",
     2, 0},
    {"ClaudeDesktop", "claude-desktop", ".config/Claude/claude_desktop_config.json",
     with_crlf("{\n    \"globalShortcut\": \"\",\n    \"mcpServers\": {\n        \"memory\": {\n"
               "            \"command\": \"docker\",\n            \"args\": [\"run\", \"-i\", \"--rm\", "
               "\"mcp/memory\"]\n        },\n        \"bare\": {\n            \"command\": \"/opt/bare\"\n"
               "        }\n    }\n}\n"),
     2, 0},
    {"Codex", "codex", ".codex/config.toml",
     R"(# my settings
model = "gpt-5"
notify = ["notify-send", "Codex"]

[mcp_servers.files] # the docs
command = "npx"   # runs node
args = ["-y", "@modelcontextprotocol/server-filesystem", "/srv/docs"]

[mcp_servers.files.env]
TOKEN = "sk-0123456789abcdef0123"

[mcp_servers."with space"]
env = { A = "1", "B" = 'two' }
command = '/opt/tools/serve it'
startup_timeout_sec = 20.5
args = [
  "--root", # where
  '''/srv''',
  """
x""",
]

[mcp_servers.bare]
command = "bare-server"

[mcp_servers.web]
url = "https://example.org/mcp"
bearer_token_env_var = "WEB_TOKEN"

[projects."/srv/app"]
trust_level = "trusted")",
     3, 0},
    {"CodexInline", "codex", ".codex/config.toml",
     "\xEF\xBB\xBF[mcp_servers]\r\nlast = { args = [], command = \"a\" }\r\n"
     "one = { command = \"npx\", args = [\"-y\", \"x\"], env = { K = \"v\" } }\r\nnone = { command = 'x' }",
     3, 0},
    {"CodexLastLine", "codex", ".codex/config.toml", "[mcp_servers.a]\ncommand = \"a\"", 1, 0},
    {"CodexDotted", "codex", ".codex/config.toml",
     "mcp_servers.a.command = \"a\"\nmcp_servers.a.args = [\"b\"]\n[mcp_servers.b]\ncommand = "
     "\"\"\"b\"\"\"\n"
     "[mcp_servers.c]\ncommand = \"c\"\n",
     1, 2},
    {"CopilotInJetBrains", "copilot-jetbrains", ".config/github-copilot/intellij/mcp.json",
     R"({
  "servers": {
    // the tracker
    "issues": {"type": "stdio", "command": "npx", "args": ["-y", "x"], "env": {"TOKEN": "sk-0123456789abcdef0123"}},
    "web": {"url": "https://example.org/mcp", "requestInit": {"headers": {"Authorization": "Bearer abc"}}}
  }
})",
     1, 0},
    {"Qoder", "qoder", ".qoder/mcp.json",
     R"({"mcpServers": {"a": {"command": "a"}, "b": {"command": "b", "args": ["c"]}}})", 2, 0},
    {"Vibe", "mistral-vibe", ".vibe/config.toml",
     R"(active_model = "devstral"  # mine

[[mcp_servers]]
name = "fetch"   # reads pages
transport = "stdio"
command = "uvx"
args = ["mcp-server-fetch"]

[[mcp_servers]]
transport = "stdio"
command = 'env'
name = "env"

[mcp_servers.env]
TOKEN = "sk-0123456789abcdef0123"

[[mcp_servers]]
name = "web"
transport = "http"
url = "https://example.org/mcp"

[[mcp_servers]]
name = "with \u0041 \"quote\""
command = "q"

[tools.bash]
permission = "ask"
)",
     3, 0},
    {"VibeTwice", "mistral-vibe", ".vibe/config.toml",
     "[[mcp_servers]]\nname = \"a\"\ncommand = \"a\"\n[[mcp_servers]]\nname = \"a\"\ncommand = \"b\"\n"
     "[[mcp_servers]]\ncommand = \"nameless\"\n[[mcp_servers]]\nname = \"b\"\ncommand = \"b\"\n",
     1, 3},
    {"VibeInOneLine", "mistral-vibe", ".vibe/config.toml",
     "mcp_servers = [{ name = \"a\", command = \"a\" }]\n", 0, 1},
    {"Copilot", "copilot-cli", ".copilot/mcp-config.json",
     R"({"mcpServers":{"files":{"type":"local","command":"npx","args":["-y","x"],"tools":["*"]},"n":{"type":"local","command":"n","args":[],"tools":["*"]}}})",
     2, 0},
    {"VsCode", "vscode", ".config/Code/User/mcp.json",
     R"({
	// asked once
	"inputs": [
		{"type": "promptString", "id": "key", "description": "Key", "password": true},
	],
	"servers": {
		"files": {
			"type": "stdio",
			"command": "npx",
			"args": ["-y", "x", "--key=${input:key}", "${workspaceFolder}"], // two references
			"envFile": "${workspaceFolder}/.env",
		},
		/* watched by the editor */
		"mine": {"command": "node", "args": ["a.js"], "dev": {"watch": "*.js"}},
		"remote": {"type": "http", "url": "https://example.org/mcp"},
	},
}
)",
     1, 1},
    {"VsCodeSettings", "vscode", ".config/Code/User/settings.json",
     "{\n  \"editor.fontSize\": 13,\n  \"mcp\": {\"servers\": {\"a\": {\"command\": \"a\", \"args\": [ "
     "]}}}\n}",
     1, 0},
    {"Cursor", "cursor", ".cursor/mcp.json",
     "\xEF\xBB\xBF{\n  \"mcpServers\": {\n    \"github\": {\n      \"env\": {\"GITHUB_TOKEN\": "
     "\"ghp_0123456789abcdef0123456789abcdef0123\"},\n      \"args\": null,\n      \"command\": "
     "\"github-mcp-server\"\n    },\n    \"@scope/x y\": {\"args\": [\"/* no comment */\", \"]}\"], "
     "\"command\": \"a\\\\b \\u0041\"}\n  }\n}\n",
     2, 0},
    {"Windsurf", "windsurf", ".codeium/windsurf/mcp_config.json",
     R"({"mcpServers": {
"off": {"command": "a", "args": ["1"], "disabled": true},
  "remote": {"serverUrl": "https://example.org/sse"},
      "both": {"command": "a", "serverUrl": "https://example.org/sse"}
}})",
     1, 1},
    {"Gemini", "gemini-cli", ".gemini/settings.json",
     R"({
  "security": {"auth": {"selectedType": "oauth-personal"}},
  "mcpServers": {
    "docs": {"httpUrl": "https://example.org/mcp", "timeout": 5000},
    "py": {"command": "python", "args": ["-m", "server"], "cwd": "./s", "trust": false, "timeout": 15000}
  }
}
)",
     1, 0},
    {"Zed", "zed", ".config/zed/settings.json",
     R"(// Zed settings
{
  "theme": {"mode": "system"},
  "context_servers": {
    "old": {"command": {"path": "npx", "args": ["-y", "x"], "env": {"A": "b"}}, "settings": {}},
    "older": {"command": {"path": "x"}},
    "new": {"source": "custom", "enabled": true, "command": "uvx", "args": ["y"], "env": {}},
    "extension": {"source": "extension", "settings": {}}
  },
}
)",
     3, 0},
    {"Cline", "cline",
     ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
     R"({
  "mcpServers": {
    "a": {
      "autoApprove": ["read"],
      "disabled": false,
      "timeout": 60,
      "type": "stdio",
      "command": "node",
      "args": ["/srv/a/index.js"]
    },
    "a": {"command": "b"},
    "twice": {"command": "a", "command": "b"},
    "empty": {"command": ""}
  }
}
)",
     0, 3},
    {"ClineOfItsProgram", "cline", ".cline/data/settings/cline_mcp_settings.json",
     with_crlf("{\n\t\"mcpServers\": {\n\t\t\"files\": {\n\t\t\t\"autoApprove\": [\"read\", \"args\"],\n"
               "\t\t\t\"disabled\": true,\n\t\t\t\"timeout\": 60,\n\t\t\t\"type\": \"stdio\",\n"
               "\t\t\t\"command\": \"npx\",\n\t\t\t\"args\": [\n\t\t\t\t\"-y\",\n\t\t\t\t\"x\"\n\t\t\t],\n"
               "\t\t\t\"env\": {}\n\t\t},\n\t\t\"web\": {\"type\": \"streamableHttp\", \"url\": "
               "\"https://example.org\"}\n\t}\n}"),
     1, 0},
    {"Opencode", "opencode", ".config/opencode/opencode.jsonc",
     R"({
  "$schema": "https://opencode.ai/config.json",
  "mcp": {
    // local
    "a": {"type": "local", "command": ["npx", "-y", "x"], "enabled": true},
    "b": {
      "type": "local",
      "command": [
        "bun",   // runs it
        "b.ts",
      ],
      "environment": {"K": "{env:K}"},
    },
    "c": {"type": "remote", "url": "https://example.org"},
    "d": {"enabled": false},
    "e": {"type": "local", "command": []},
  },
}
)",
     2, 1},
    {"Kiro", "kiro", ".kiro/settings/mcp.json",
     R"({"mcpServers":{"v":{"command":"${HOME}/bin/v","args":[]},"~":{"command":"~/v"},"w":{"command":"w --flag"},
"term":{"command":"t","args":["1"],"env":{"TERM":"dumb","TMUX":"x"}}}})",
     1, 3},
    {"Amp", "amp", ".config/amp/settings.json",
     "{\"amp.mcpServers\": {\"a\": {\"command\": \"a\", \"args\": [\"b\", 1, true]}}, \"amp.url\": \"x\"}", 1,
     0},
    {"Qwen", "qwen-code", ".qwen/settings.json",
     R"({"$version": 2, "mcpServers": {"a": {"command": "a", "args": ["b"], "excludeTools": ["c"]}},
  "ui": {"theme": "Default"}})",
     1, 0},
    {"Antigravity", "antigravity", ".gemini/antigravity/mcp_config.json",
     R"({
  "mcpServers": {
    "github": {"command": "docker", "args": ["run", "-i", "--rm", "-e", "GITHUB_TOKEN", "ghcr.io/x"],
               "env": {"GITHUB_TOKEN": "ghp_0123456789abcdef0123456789abcdef0123"}},
    "web": {"serverUrl": "https://example.org/mcp"}
  }
})",
     1, 0},
    {"Trae", "trae", ".config/Trae/User/mcp.json",
     "{\"mcpServers\":{\"a\":{\"command\":\"a\",\"args\":[]}}}\n", 1, 0},
    {"Roo", "roo-code",
     ".config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
     "{\n  \"mcpServers\": {\n    \"a\": {\n      \"args\": [\"--x\"], \"alwaysAllow\": [],\n      "
     "\"command\": \"a\"\n    }\n  }\n}",
     1, 0},
    {"Kilo", "kilo-code", ".config/kilo/kilo.jsonc",
     R"({
  // two of them
  "mcp": {"a": {"type": "local", "command": ["npx", "-y", "x"], "environment": {"K": "v"}},
          "b": {"type": "remote", "url": "https://example.org"}},
})",
     1, 0},
    {"Crush", "crush", ".config/crush/crush.json",
     R"({"$schema": "https://charm.land/crush.json", "mcp": {
  "a": {"type": "stdio", "command": "node", "args": ["/srv/a.js"], "env": {"NODE_ENV": "production"}, "timeout": 120},
  "b": {"type": "http", "url": "https://example.org/mcp"}}})",
     1, 0},
    {"AmazonQ", "amazon-q", ".aws/amazonq/mcp.json",
     R"({ "mcpServers" : { "a" : { "command" : "uvx" , "args" : [ "x@latest" ] , "timeout" : 60000 } } })", 1,
     0},
    {"Junie", "jetbrains", ".junie/mcp/mcp.json",
     "{\r\n  \"mcpServers\": {\r\n    \"a\": {\r\n      \"command\": \"npx\",\r\n      \"args\": [\r\n       "
     " "
     "\"-y\",\r\n        \"x\"\r\n      ]\r\n    }\r\n  }\r\n}\r\n",
     1, 0},
    {"LmStudio", "lm-studio", ".lmstudio/mcp.json",
     "{\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"a\"\n    }\n  }\n}", 1, 0},
    {"Droid", "droid", ".factory/mcp.json",
     R"({"mcpServers": {"a": {"type": "stdio", "command": "a", "args": ["\u00e9", "b\"c"], "disabled": false}}})",
     1, 0},
    {"Kimi", "kimi-cli", ".kimi/mcp.json", R"({"mcpServers": {"a": {"args": ["1"], "command": "a"}}})", 1, 0},
    {"Mcporter", "mcporter", ".mcporter/mcporter.jsonc",
     R"({
  "imports": [], // nothing of others
  "mcpServers": {
    "a": {"description": "A", "command": "npx", "args": ["-y", "x"], "lifecycle": "keep-alive"},
    "b": {"baseUrl": "https://example.org/mcp"},
  },
})",
     1, 0},
    {"AlreadyKept", "cursor", ".cursor/mcp.json",
     R"({"mcpServers": {"a": {"command": "/usr/bin/corral", "args": ["run", "--", "a"]},
  "b": {"command": "npx", "args": ["-y", "corral@1", "connect", "b"]},
  "c": {"command": "sh", "args": ["-c", "exec corral run -- c"]}}})",
     0, 0},
    {"Empty", "cursor", ".cursor/mcp.json", "", 0, 0},
    {"NoTable", "cursor", ".cursor/mcp.json", "{\"mcpServers\": []}", 0, 0},
};

}  // namespace corral::adopt
