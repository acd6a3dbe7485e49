// One run of a client, from its start to its end.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, eventually, killOne, stillRuns, treeBelow } from '../../integration/support/processes.mjs';
import { LIMIT_MS } from './client_lab.mjs';
import { Model } from './model.mjs';

const hasInCommand = ({ pid }, word) => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(word);
  } catch {
    return false; // it has ended
  }
};

export class ClientRun {
  // `script`: see Model.start().
  static async start(lab, client, script) {
    const model = await Model.start(client.dialect, script);
    return new ClientRun(lab, client, model);
  }

  constructor(lab, client, model) {
    Object.assign(this, { lab, client, model });
    const [command, ...args] = client.command(lab, model.url);
    this.child = spawn(command, args, {
      cwd: lab.project,
      env: { ...lab.env, ...client.env(model.url, lab) },
      uid: lab.uid,
      gid: lab.uid,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.stdout = '';
    this.stderr = '';
    this.child.stdout.on('data', (chunk) => (this.stdout += chunk));
    this.child.stderr.on('data', (chunk) => (this.stderr += chunk));
    // Not 'close': what a client leaves behind may have its pipes open.
    this.ended = new Promise((resolve) => {
      this.child.once('exit', (code, signal) => resolve({ code, signal }));
    });
  }

  get story() {
    const { model } = this;
    return `${this.client.name}: model was asked: ${model.asked.join(', ')}; tools: ${model.tools.join(' ')}
stdout: ${this.stdout}
stderr: ${this.stderr}
processes: ${describe(this.lab.survivors())}`;
  }

  async until(what, probe, limit = LIMIT_MS) {
    const hasEnded = () => this.child.exitCode !== null || this.child.signalCode !== null;
    let happened = false;
    const look = async () => (happened = await probe()) || hasEnded();
    await eventually(what, look, limit).catch(() => {});
    happened ||= await probe();
    if (!happened) throw new Error(`waited for ${what}\n${this.story}`);
    this.lab.watch(this.child.pid);
  }

  async end(limit = LIMIT_MS) {
    const late = new Promise((resolve) => setTimeout(resolve, limit, 'late').unref());
    const end = await Promise.race([this.ended, late]);
    if (end === 'late') throw new Error(`the client has not ended after ${limit} ms\n${this.story}`);
    return end;
  }

  // The process that has started the server or, when it is adopted, corral. A client may have a launcher above it.
  process(server) {
    const tree = treeBelow(this.child.pid);
    const first = tree.find((one) => hasInCommand(one, server.mark(this.lab)));
    if (first === undefined) throw new Error(`the client has no server\n${this.story}`);
    return tree.find(({ pid }) => pid === first.ppid);
  }

  // Resolves when that process and its launcher are gone.
  async kill(signal, server) {
    const victim = this.process(server);
    killOne(victim, signal);
    await eventually(`${victim.comm} to end by ${signal}`, () => !stillRuns(victim), LIMIT_MS);
    await this.end();
  }

  async stop() {
    await this.model.stop();
  }
}
