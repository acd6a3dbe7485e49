// A client without an SDK: it writes lines, reads lines, and closes what it wants when it wants.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { getDefaultEnvironment } from '@modelcontextprotocol/sdk/client/stdio.js';
import { HERE } from './lab.mjs';
import { eventually } from './processes.mjs';

export const initialize = (id = 1) => ({
  jsonrpc: '2.0',
  id,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'by-hand', version: '1.0.0' },
  },
});
export const INITIALIZED = { jsonrpc: '2.0', method: 'notifications/initialized' };
export const toolCall = (id, name, args = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args, _meta: { progressToken: `token ${id}` } },
});

// A request of the revision 2026-07-28 says in itself who sends it, and needs no initialize before it.
export const modernRequest = (id, method, params = {}) => ({
  jsonrpc: '2.0',
  id,
  method,
  params: {
    ...params,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'by-hand', version: '1.0.0' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
});

export class RawClient {
  // Its environment is that of the SDK's sessions: with another one it would not share an instance with them.
  constructor(
    lab,
    [program, ...args],
    { env = { ...getDefaultEnvironment(), ...lab.env }, cwd = HERE } = {},
  ) {
    this.stdout = '';
    this.stderr = '';
    this.child = spawn(program, args, { env, cwd });
    this.child.stdout.on('data', (chunk) => (this.stdout += chunk));
    this.child.stderr.on('data', (chunk) => (this.stderr += chunk));
    // A shim that leaves does not wait for its input.
    this.child.stdin.on('error', () => {});
    this.ended = new Promise((resolve) => {
      this.child.once('close', (code, signal) => resolve({ code, signal }));
    });
    this.pid = this.child.pid;
    lab.watch(this.pid);
  }

  send(...messages) {
    this.child.stdin.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(''));
  }

  endInput() {
    this.child.stdin.end();
  }

  messages() {
    const complete = this.stdout.slice(0, this.stdout.lastIndexOf('\n') + 1);
    return complete
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  }

  // The first message that `matches`; what came instead if it never comes.
  async hears(what, matches, limitMs) {
    try {
      return await eventually(what, () => this.messages().find(matches), limitMs);
    } catch {
      assert.fail(`waited for ${what}; stdout: ${this.stdout} stderr: ${this.stderr}`);
    }
  }

  answer(id, limitMs) {
    return this.hears(`an answer to ${id}`, (message) => message.id === id && !message.method, limitMs);
  }

  request(message, limitMs) {
    this.send(message);
    return this.answer(message.id, limitMs);
  }
}
