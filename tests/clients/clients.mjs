// The clients: where each keeps its configuration, how it is started without a person and with one, and how it finds the model.
// `trust` makes the files in which a client notes that its user trusts a directory. `launcher`: the process that npm's command
// starts is not the client. `prompt`: a part of its screen when it waits for words. `outlivesTerminal`: it goes on when its terminal is closed.
import path from 'node:path';
import { anthropic } from './model_anthropic.mjs';
import { gemini } from './model_gemini.mjs';
import { openai } from './model_openai.mjs';

const PACKAGES = path.join(process.env.CLIENTS_DIR ?? '', 'node_modules');
const program = (...parts) => path.join(PACKAGES, ...parts);
const platform = `linux-${process.arch}`;
const PROMPT = 'Use the tool.';

const claude = () => program(`@anthropic-ai/claude-code-${platform}`, 'claude');
const copilotWords = () => [process.execPath, program('@github/copilot', 'npm-loader.js')];
const geminiWords = () => {
  const script = program('@google/gemini-cli', 'bundle', 'gemini.js');
  return [process.execPath, script, '--model', 'gemini-2.5-flash', '--skip-trust'];
};

const indented = (value) => `${JSON.stringify(value, null, 2)}\n`;

export const claudeCode = {
  id: 'claude-code',
  name: 'Claude Code',
  package: '@anthropic-ai/claude-code',
  dialect: anthropic,
  file: '.claude.json',
  config: (servers, more = {}) =>
    indented({ numStartups: 3, hasCompletedOnboarding: true, theme: 'dark', ...more, mcpServers: servers }),
  trust(lab) {
    const { mcpServers, ...rest } = JSON.parse(lab.read(this.file));
    const trusted = { [lab.project]: { hasTrustDialogAccepted: true } };
    const customApiKeyResponses = { approved: ['dummy'], rejected: [] };
    lab.write(this.file, this.config(mcpServers, { ...rest, customApiKeyResponses, projects: trusted }));
  },
  entryOf: (entry) => ({ type: 'stdio', ...entry }),
  serversIn: (text) => JSON.parse(text).mcpServers,
  command: () => [claude(), '-p', PROMPT, '--permission-mode', 'bypassPermissions'],
  interactive: () => [claude()],
  prompt: '❯',
  env: (url) => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'dummy',
    ENABLE_TOOL_SEARCH: 'false',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
  }),
};

export const copilotCli = {
  id: 'copilot-cli',
  name: 'Copilot CLI',
  package: '@github/copilot',
  launcher: true,
  dialect: openai,
  file: '.copilot/mcp-config.json',
  config: (servers) => indented({ mcpServers: servers }),
  entryOf: (entry) => ({ type: 'local', ...entry, tools: ['*'] }),
  serversIn: (text) => JSON.parse(text).mcpServers,
  trust: (lab) => lab.write('.copilot/config.json', indented({ trusted_folders: [lab.project] })),
  command: () => [...copilotWords(), '-p', PROMPT, '--allow-all-tools'],
  interactive: copilotWords,
  prompt: '❯',
  env: (url) => ({
    COPILOT_OFFLINE: 'true',
    COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
    COPILOT_PROVIDER_API_KEY: 'dummy',
    COPILOT_MODEL: 'scripted',
    COPILOT_AUTO_UPDATE: 'false',
  }),
};

export const geminiCli = {
  id: 'gemini-cli',
  name: 'Gemini CLI',
  package: '@google/gemini-cli',
  launcher: true,
  dialect: gemini,
  file: '.gemini/settings.json',
  config: (servers) =>
    indented({
      security: { auth: { selectedType: 'gemini-api-key' } },
      general: { enableAutoUpdate: false },
      privacy: { usageStatisticsEnabled: false },
      mcpServers: servers,
    }),
  entryOf: (entry) => ({ ...entry, trust: true }),
  serversIn: (text) => JSON.parse(text).mcpServers,
  command: () => [...geminiWords(), '-p', PROMPT, '--yolo'],
  trust: () => {}, // --skip-trust
  outlivesTerminal: true,
  interactive: geminiWords,
  prompt: '@path/to/file',
  env: (url) => ({ GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: 'dummy' }),
};
