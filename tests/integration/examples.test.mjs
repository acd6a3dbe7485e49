// Every configuration in examples/ is read, started as it says, and must answer.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { serversOf } from './support/client_config.mjs';
import { CORRAL, HERE, labTest } from './support/lab.mjs';
import { openSession } from './support/session.mjs';

const EXAMPLES = path.resolve(HERE, '../../examples');

// The file and the table in which each client looks for its servers, and whether it allows comments there.
const CLIENTS = {
  'claude-code': { file: '.mcp.json', table: 'mcpServers' },
  'claude-desktop': { file: 'claude_desktop_config.json', table: 'mcpServers' },
  codex: { file: 'config.toml', table: 'mcp_servers' },
  'copilot-cli': { file: 'mcp-config.json', table: 'mcpServers' },
  cursor: { file: '.cursor/mcp.json', table: 'mcpServers' },
  gemini: { file: '.gemini/settings.json', table: 'mcpServers' },
  vscode: { file: '.vscode/mcp.json', table: 'servers', comments: true },
  windsurf: { file: 'mcp_config.json', table: 'mcpServers' },
  zed: { file: 'settings.json', table: 'context_servers', comments: true },
};

// Examples that configure no client.
const OTHERS = [
  'agent_loop/README.md',
  'agent_loop/agent.mjs',
  'agent_loop/package.json',
  'agent_loop/scripted_model.mjs',
  'agent_loop/servers.json',
  'ci/.github/workflows/agent.yml',
  'corral/config.json',
  'direct.py',
  'sessions/README.md',
  'sessions/session.mjs',
  'sessions/session.py',
  'systemd/corral.service',
  'systemd/corral.socket',
];

const filesBelow = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(EXAMPLES, path.join(entry.parentPath, entry.name)))
    .sort();

test('every file in examples/ is known here and named in its README', () => {
  const expected = [...Object.entries(CLIENTS).map(([client, { file }]) => `${client}/${file}`), ...OTHERS];
  const readme = readFileSync(path.join(EXAMPLES, 'README.md'), 'utf8');

  assert.deepEqual(filesBelow(EXAMPLES), ['README.md', ...expected].sort());
  for (const file of expected) assert.ok(readme.includes(`(${file})`), `README.md links ${file}`);
});

for (const [client, { file, table, comments }] of Object.entries(CLIENTS)) {
  labTest(`the example for ${client} works as it is written`, {}, async (lab) => {
    const text = readFileSync(path.join(EXAMPLES, client, file), 'utf8');
    const servers = serversOf(file, text, { comments });
    assert.deepEqual(servers.map((server) => [server.table, server.command]), [[table, 'corral']]);

    const session = await openSession(lab, [CORRAL, ...servers[0].args]);
    const { tools } = await session.client.listTools();
    await session.client.close();

    assert.ok(tools.some(({ name }) => name === 'read_text_file'));
    await lab.empty();
  });
}
