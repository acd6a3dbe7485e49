// A client for tests that start hundreds of them: no SDK, and nothing is polled.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { HERE } from './lab.mjs';
import { INITIALIZED, initialize, toolCall } from './raw_client.mjs';

export class QuickClient {
  constructor(lab, [program, ...args]) {
    this.child = spawn(program, args, { env: { ...process.env, ...lab.env }, cwd: HERE });
    this.child.stdin.on('error', () => {});
    this.stderr = '';
    this.child.stderr.on('data', (chunk) => (this.stderr += chunk));
    this.waiting = new Map();
    this.last = 0;
    createInterface(this.child.stdout).on('line', (line) => this.take(JSON.parse(line)));
    this.ended = new Promise((resolve) => {
      this.child.once('close', (code, signal) => {
        for (const { reject } of this.waiting.values()) reject(new Error(`no answer: ${this.stderr}`));
        resolve({ code, signal });
      });
    });
  }

  take(message) {
    if (message.method !== undefined) return;
    this.waiting.get(message.id)?.resolve(message);
    this.waiting.delete(message.id);
  }

  request(message) {
    this.child.stdin.write(`${JSON.stringify(message)}\n`);
    return new Promise((resolve, reject) => this.waiting.set(message.id, { resolve, reject }));
  }

  async open() {
    await this.request(initialize((this.last += 1)));
    this.child.stdin.write(`${JSON.stringify(INITIALIZED)}\n`);
    return this;
  }

  // The text of the answer, or the message of the error.
  async call(name, args) {
    const { result, error } = await this.request(toolCall((this.last += 1), name, args));
    return error?.message ?? result.content[0].text;
  }
}
