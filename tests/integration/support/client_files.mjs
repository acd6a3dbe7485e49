// Files of clients, as people and the clients write them. `servers` are the keys on the way to the tables of servers ('*' is
// every key). An entry that is called "everything" can be started.
import { viaNode } from './session.mjs';

const quoted = JSON.stringify;
const [NODE, SCRIPT] = viaNode('everything');

const crlf = (text) => text.replaceAll('\n', '\r\n');

export const CLIENT_FILES = {
  '.claude.json': {
    servers: ['mcpServers', 'projects/*/mcpServers'],
    text: `{
  "numStartups": 41,
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
    "web": {"type": "http", "url": "https://example.org/mcp"}
  },
  "projects": {
    "/srv/app": {
      "allowedTools": [],
      "mcpServers": {"files": {"type": "stdio", "command": "uvx", "args": ["x", "--db", "a.db"], "env": {}}},
      "hasTrustDialogAccepted": true
    },
    "/srv/other": {"mcpServers": {}}
  },
  "userID": "0123"
}
`,
  },
  '.config/Claude/claude_desktop_config.json': {
    servers: ['mcpServers'],
    text: crlf(`{
    "globalShortcut": "",
    "mcpServers": {
        "memory": {
            "command": "docker",
            "args": ["run", "-i", "--rm", "mcp/memory"]
        },
        "bare": {
            "command": "/opt/bare"
        }
    }
}
`),
  },
  '.codex/config.toml': {
    servers: ['mcp_servers'],
    text: `model = "x" # [mcp_servers.everything]
[mcp_servers.everything.env]
A = "1"
[mcp_servers.everything] # here
args = [
  ${quoted(SCRIPT)}, # "]
]
command = '${NODE}'
[mcp_servers.bare]
command = "true"`,
  },
  '.copilot/mcp-config.json': {
    servers: ['mcpServers'],
    text: '{"mcpServers":{"files":{"type":"local","command":"npx","args":["-y","x"],"tools":["*"]}}}',
  },
  '.config/Code/User/mcp.json': {
    servers: ['servers'],
    text: `// mine
{
\t"inputs": [],
\t"servers": {
\t\t"files": {
\t\t\t"type": "stdio", // of the editor
\t\t\t"command": "npx",
\t\t\t"args": [
\t\t\t\t"-y", /* no, "args" */ "x", "--key=\${input:key}",
\t\t\t],
\t\t},
\t},
}
`,
  },
  '.config/Code/User/settings.json': {
    servers: ['mcp/servers'],
    text: '{\n  "editor.fontSize": 13,\n  "mcp": {"servers": {"a": {"command": "a", "args": [ ]}}}\n}',
  },
  '.cursor/mcp.json': {
    servers: ['mcpServers'],
    text: `\uFEFF{\r\n  "mcpServers": {\r\n    "everything": {"command": ${quoted(NODE)}, "args": [${quoted(SCRIPT)}], "env": {"A": "1"}},
    "web": {"url": "https://example.org/mcp"}\r\n  },\r\n  "other": {"command": "x", "args": []}\r\n}`,
  },
  '.codeium/windsurf/mcp_config.json': {
    servers: ['mcpServers'],
    text: `{"mcpServers": {
"off": {"command": "a", "args": ["1"], "disabled": true},
      "web": {"serverUrl": "https://example.org/sse"}
}}`,
  },
  '.gemini/settings.json': {
    servers: ['mcpServers'],
    text: `{
  "security": {"auth": {"selectedType": "oauth-personal"}},
  "mcpServers": {
    "docs": {"httpUrl": "https://example.org/mcp", "timeout": 5000},
    "py": {"command": "python", "args": ["-m", "server"], "cwd": "./s", "trust": false, "timeout": 15000}
  }
}
`,
  },
  '.config/zed/settings.json': {
    servers: ['context_servers'],
    text: `// Zed settings
{
  "theme": {"mode": "system"},
  "context_servers": {
    "everything": {"command": {"path": ${quoted(NODE)}, "args": [${quoted(SCRIPT)}], "env": {"A": "b"}}, "settings": {}},
    "new": {"source": "custom", "enabled": true, "command": "uvx", "args": ["y"], "env": {}},
    "extension": {"source": "extension", "settings": {}},
  },
}
`,
  },
  '.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json': {
    servers: ['mcpServers'],
    text: `{
  "mcpServers": {
    "a": {
      "autoApprove": ["args", "command"],
      "disabled": false,
      "timeout": 60,
      "type": "stdio",
      "command": "node",
      "args": ["/srv/a/index.js"]
    }
  }
}
`,
  },
  '.config/opencode/opencode.jsonc': {
    servers: ['mcp'],
    text: `{
  "$schema": "https://opencode.ai/config.json",
  "mcp": {
    // local
    "everything": {
      "type": "local",
      "command": [
        ${quoted(NODE)},   // runs it
        ${quoted(SCRIPT)},
      ],
      "environment": {"K": "{env:K}"},
    },
    "web": {"type": "remote", "url": "https://example.org"},
  },
}
`,
  },
  '.kiro/settings/mcp.json': {
    servers: ['mcpServers'],
    text: '{"mcpServers":{"a":{"command":"a","args":["\\u00e9","b\\"c"],"env":{"FASTMCP_LOG_LEVEL":"ERROR"},"autoApprove":[]}}}',
  },
  '.config/amp/settings.json': {
    servers: ['amp.mcpServers'],
    text: '{"amp.mcpServers": {"a": {"command": "a", "args": ["b"]}}, "amp.url": "x"}',
  },
  '.config/crush/crush.json': {
    servers: ['mcp'],
    text: `{"mcp": {
  "a": {"type": "stdio", "command": "node", "args": ["/srv/a.js"], "timeout": 120},
  "b": {"type": "http", "url": "https://example.org/mcp"}}}`,
  },
};
