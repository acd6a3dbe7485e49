// Codex: its configuration, and how it is started without a person.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { responses } from './model_responses.mjs';

const PROGRAM = path.join(process.env.CLIENTS_DIR ?? '', 'node_modules', '@openai/codex', 'bin', 'codex.js');
const quoted = JSON.stringify;

// A parser that is not corral's.
const PARSE = 'import json, sys, tomllib; print(json.dumps(tomllib.loads(sys.stdin.read())))';

export function parseToml(text) {
  const { status, stdout, stderr } = spawnSync('python3', ['-c', PARSE], { input: text, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${stderr}\n${text}`);
  return JSON.parse(stdout);
}

function tableOf([name, { command, args, env }]) {
  return `[mcp_servers.${name}] # added by hand
command = ${quoted(command)}
args = [
  ${args.map(quoted).join(',\n  ')}, # the last one
]
required = true # its tools are in the first question to the model
startup_timeout_sec = 60

[mcp_servers.${name}.env]
${Object.entries(env ?? {}).map(([key, value]) => `${key} = ${quoted(value)}`).join('\n')}
`;
}

// `url`: of the model, where it cannot be given on the command line.
export function configOf(servers, { url = 'http://127.0.0.1:1', head = '' } = {}) {
  return `# my settings
${head}model = "scripted"
model_provider = "lab" # on loopback

[model_providers.lab]
name = "lab"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "LAB_KEY"

${Object.entries(servers).map(tableOf).join('\n')}
[history]
persistence = "none"
`;
}

export const commandOf = (...words) => [process.execPath, PROGRAM, ...words];

const UNASKED = '--dangerously-bypass-approvals-and-sandbox';

export const codex = {
  id: 'codex',
  name: 'Codex',
  package: '@openai/codex',
  dialect: responses,
  file: '.codex/config.toml',
  config: configOf,
  entryOf: (entry) => entry,
  serversIn: (text) => parseToml(text).mcp_servers,
  command: (lab, url) =>
    commandOf('exec', '--skip-git-repo-check', UNASKED, '-c', `model_providers.lab.base_url="${url}/v1"`, 'Use the tool.'),
  env: () => ({ LAB_KEY: 'dummy' }),
};
