// Codex at a terminal, and the background process that has its servers. Codex itself unloads a conversation without a window
// after a minute. Here that is an hour unless a case says otherwise, so that it is not Codex that ends a server.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, eventually, killOne, stillRuns } from '../integration/support/processes.mjs';
import { codex, commandOf, configOf } from './codex.mjs';
import { AtTerminal } from './lab/at_terminal.mjs';
import { LIMIT_MS } from './lab/client_lab.mjs';
import { Model } from './lab/model.mjs';
import { stubborn } from './lab/servers.mjs';

const HOUR_S = 3600;
const UNASKED = '--dangerously-bypass-approvals-and-sandbox';
// Its log has what an MCP server tells its client.
const ENV = { ...codex.env(), RUST_LOG: 'error,codex_rmcp_client=info' };
const DAEMON = '.codex/app-server-daemon';

export const ANSWERS = { tool: stubborn.tool, args: stubborn.args };

// The shell, the server and the two that have left it, at least.
export const TREE = 4;

// Without corral's own processes, which stay with the session.
export const treeOf = (lab) =>
  lab
    .serverTree()
    .filter(({ comm }) => comm !== 'corral')
    .toSorted((a, b) => a.pid - b.pid);

// The ways in which the interface goes. Each comes back when it has gone.
export const ENDS = {
  '/quit': (window) => window.terminal.enter('/quit', 'the end of the interface', () => window.terminal.hasEnded()),
  SIGTERM: (window) => window.kill('SIGTERM'),
  SIGKILL: (window) => window.kill('SIGKILL'),
  'a closed terminal': (window) => window.close(),
};

function configure(lab, model, unloadsAfterS) {
  const servers = { [stubborn.name]: stubborn.entry(lab) };
  const head = `thread_unload_delay_secs = ${unloadsAfterS}\n`;
  const trust = `\n[projects."${lab.project}"]\ntrust_level = "trusted"\n`;
  lab.write(codex.file, configOf(servers, { url: model.url, head }) + trust);
}

// A window with the interface.
export class Window {
  // `isReady`: whether its Codex knows the tools. A server that corral knows already is not asked for them.
  static async open(lab, model, isReady = () => stubborn.heard(lab, 'tools/list')) {
    stubborn.forget(lab);
    const window = new Window(lab, model);
    await window.terminal.until('the server', isReady);
    window.process = window.terminal.processes().find(isInterface);
    assert.notEqual(window.process, undefined, window.terminal.story);
    return window;
  }

  constructor(lab, model) {
    Object.assign(this, { lab, model, terminal: new AtTerminal(lab, commandOf(UNASKED), ENV) });
  }

  async ask() {
    await this.terminal.enter('please', 'a question to the model', () => this.model.called);
  }

  async kill(signal) {
    await this.terminal.kill(this.process, signal);
  }

  async close() {
    await this.terminal.close();
    await eventually('the interface to notice', () => !stillRuns(this.process), LIMIT_MS);
  }
}

export async function answer(window) {
  await window.terminal.until('a result', () => window.model.result !== undefined);
  assert.match(window.model.result, stubborn.answer, window.terminal.story);
}

// Not the launcher that npm installs, nor a background process that has not lost its parent yet.
const isInterface = ({ pid, comm }) =>
  comm === 'codex' && !readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('app-server');

// `script`: see Model.start().
export async function withCodex(lab, script, body, { unloadsAfterS = HOUR_S } = {}) {
  const model = await Model.start(codex.dialect, script);
  try {
    configure(lab, model, unloadsAfterS);
    await body(model);
    await endBackground(lab);
  } finally {
    await model.stop();
    rmSync(`/tmp/codex-daemon-${lab.uid}`, { recursive: true, force: true });
  }
}

// The background processes of this user's Codex, by what it has written about itself.
function backgroundOf(lab) {
  const pids = ['daemon', 'daemon-updater'].map((name) => JSON.parse(lab.read(`${DAEMON}/${name}.pid`)).pid);
  const found = lab.survivors().filter(({ pid }) => pids.includes(pid));
  assert.equal(found.length, pids.length, `${pids}; there are ${describe(lab.survivors())}`);
  return found;
}

async function endBackground(lab) {
  const processes = backgroundOf(lab);
  processes.forEach((one) => killOne(one, 'SIGTERM'));
  await eventually('the end of the background processes', () => !processes.some(stillRuns));
}

// What Codex has noted about messages of its servers.
export const logOf = (lab) => lab.read(`${DAEMON}/daemon.stderr.log`);

// Of the only conversation.
export function conversationId(lab) {
  const folder = path.join(lab.home, '.codex/sessions');
  const [file] = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.jsonl'));
  return /([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$/.exec(file)[1];
}
