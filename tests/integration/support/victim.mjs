// Starts client.mjs as a process that a test may kill, and waits for the words that it prints.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { HERE } from './lab.mjs';
import { eventually } from './processes.mjs';

const PROGRAM = path.join(HERE, 'support', 'client.mjs');

export const clientCommand = (plan) => [process.execPath, PROGRAM, JSON.stringify({ cwd: HERE, ...plan })];

export class Victim {
  constructor(lab, command, options = {}) {
    this.lab = lab;
    this.stdout = '';
    this.stderr = '';
    const env = { ...process.env, ...lab.env };
    this.child = spawn(command[0], command.slice(1), { env, cwd: HERE, ...options });
    this.child.stdout.on('data', (chunk) => (this.stdout += chunk));
    this.child.stderr.on('data', (chunk) => (this.stderr += chunk));
    // A write to a client that is just dying does not concern the test.
    this.child.stdin.on('error', () => {});
    this.ended = new Promise((resolve) => {
      this.child.once('exit', (code, signal) => resolve({ code, signal }));
    });
  }

  get pid() {
    return this.child.pid;
  }

  async says(word) {
    const hasEnded = () => this.child.exitCode !== null || this.child.signalCode !== null;
    await eventually(`the client to say ${word}`, () => this.stdout.includes(word) || hasEnded(), 45_000);
    const heard = `stdout: ${this.stdout} stderr: ${this.stderr}`;
    assert.ok(this.stdout.includes(word), `waited for ${word}; ${heard}`);
    this.lab.watch(this.pid);
  }

  async kill(signal) {
    this.child.kill(signal);
    return this.ended;
  }
}
