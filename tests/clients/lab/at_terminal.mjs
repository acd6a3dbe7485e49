// A client at a terminal of its own, with somebody who types. script(1) makes the terminal; when it is killed, the
// terminal is closed.
import { spawn } from 'node:child_process';
import { describe, eventually, killOne, stillRuns, treeBelow } from '../../integration/support/processes.mjs';
import { LIMIT_MS } from './client_lab.mjs';

const quote = (word) => `'${word.replaceAll("'", "'\\''")}'`;

// Interfaces ask the terminal where its cursor is, and some wait for the answer.
const WHERE_IS_THE_CURSOR = '\x1b[6n';
const TOP_LEFT = '\x1b[1;1R';

const PATIENCE_MS = 5_000; // for a key that an interface ignores while it starts

export class AtTerminal {
  constructor(lab, command, env) {
    this.lab = lab;
    const line = `stty rows 40 cols 120; exec ${command.map(quote).join(' ')}`;
    this.child = spawn('script', ['-qefc', line, '/dev/null'], {
      cwd: lab.project,
      env: { ...lab.env, ...env },
      uid: lab.uid,
      gid: lab.uid,
    });
    this.shown = '';
    this.child.stdout.on('data', (chunk) => this.#show(String(chunk)));
    this.child.stderr.on('data', (chunk) => this.#show(String(chunk)));
    // A key that meets the end of the client does not concern the test.
    this.child.stdin.on('error', () => {});
    this.ended = new Promise((resolve) => this.child.once('exit', resolve));
  }

  #show(text) {
    this.shown += text;
    if (text.includes(WHERE_IS_THE_CURSOR)) this.press(TOP_LEFT);
  }

  get story() {
    return `the terminal showed: ${JSON.stringify(this.shown.slice(-3000))}
processes: ${describe(this.lab.survivors())}`;
  }

  hasEnded() {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  press(keys) {
    this.child.stdin.write(keys);
  }

  async until(what, probe, limit = LIMIT_MS) {
    await eventually(what, probe, limit).catch((error) => {
      throw new Error(`${error.message}\n${this.story}`);
    });
  }

  // Types a line. Return is pressed until `probe` is true: an interface that starts or completes words ignores some.
  async enter(words, what, probe) {
    const before = this.shown.length;
    this.press(words);
    await this.until(`${words} on the screen`, () => this.shown.indexOf(words, before) >= 0);
    let pressed = 0;
    await this.until(what, () => {
      if (probe()) return true;
      if (Date.now() - pressed > PATIENCE_MS) {
        this.press('\r');
        pressed = Date.now();
      }
      return false;
    });
  }

  processes() {
    return treeBelow(this.child.pid).filter(({ pid }) => pid !== this.child.pid);
  }

  async kill(victim, signal) {
    killOne(victim, signal);
    await this.until(`${victim.comm} to end by ${signal}`, () => !stillRuns(victim));
    await this.ended;
  }

  async close() {
    this.child.kill('SIGKILL');
    await this.ended;
  }
}
