// One lab per case: a user that nobody else is, with a home directory of its own. Everything that the case starts
// belongs to that user, so nothing escapes a look at all processes: what has dropped its environment, what has its own
// session, and corral's daemon, whose usual place is named after the user.
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { CORRAL, Lab } from '../../integration/support/lab.mjs';
import { liveProcesses, tagged } from '../../integration/support/processes.mjs';

export const LIMIT_MS = 90_000; // for a client; bounds a failing case

function ownerOf(pid) {
  try {
    return Number(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]);
  } catch {
    return NaN; // it has ended
  }
}

const processesOf = (uid) => liveProcesses().filter(({ pid }) => ownerOf(pid) === uid);

// Above the numbers that people, packages and containers get.
function newUser() {
  for (;;) {
    const uid = randomInt(1_000_000_000, 2_000_000_000);
    if (processesOf(uid).length === 0 && !existsSync(`/tmp/corral-${uid}`)) return uid;
  }
}

export class ClientLab extends Lab {
  constructor() {
    super();
    this.uid = newUser();
    // The tag in its name is in the environment of everything, even of the daemon.
    this.home = path.join(this.dir, `${this.tag}home`);
    this.serverTag = `${this.tag}server`;
    this.project = path.join(this.home, 'project');
    this.temporary = path.join(this.home, 'tmp');
    this.own(this.dir);
    for (const folder of [this.home, this.project, this.temporary]) {
      mkdirSync(folder, { mode: 0o700 });
      this.own(folder);
    }
    this.env = {
      HOME: this.home,
      USER: 'somebody',
      LOGNAME: 'somebody',
      SHELL: '/bin/sh',
      LANG: 'C.UTF-8',
      TERM: 'xterm-256color',
      TMPDIR: this.temporary,
      XDG_CONFIG_HOME: path.join(this.home, '.config'),
      XDG_STATE_HOME: path.join(this.home, '.local/state'),
      XDG_DATA_HOME: path.join(this.home, '.local/share'),
      XDG_CACHE_HOME: path.join(this.home, '.cache'),
      PATH: process.env.PATH,
      NO_COLOR: '1',
    };
  }

  own(file) {
    chownSync(file, this.uid, this.uid);
  }

  // A file of the user, below the home directory.
  write(name, text) {
    const file = path.join(this.home, name);
    const folders = path.dirname(name).split('/');
    for (const [at] of folders.entries()) {
      const folder = path.join(this.home, ...folders.slice(0, at + 1));
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      this.own(folder);
    }
    writeFileSync(file, text, { mode: 0o600 });
    this.own(file);
  }

  read(name) {
    return readFileSync(path.join(this.home, name), 'utf8');
  }

  // `corral WORD...` typed by the user.
  type(...words) {
    const { status, signal, stdout, stderr } = spawnSync(CORRAL, words, {
      cwd: this.project,
      env: this.env,
      uid: this.uid,
      gid: this.uid,
      encoding: 'utf8',
      timeout: LIMIT_MS,
    });
    const end = status ?? signal;
    return { code: end, out: stdout, err: stderr, said: `corral ${words.join(' ')}: ${end}\n${stdout}\n${stderr}` };
  }

  survivors() {
    const byPid = new Map([...super.survivors(), ...processesOf(this.uid)].map((one) => [one.pid, one]));
    return [...byPid.values()];
  }

  // The processes of the server, and those of corral that have its command among their words.
  serverTree() {
    return tagged(this.serverTag);
  }
}

// Like labTest().
export function clientTest(name, body) {
  test(name, { timeout: 6 * LIMIT_MS }, async (t) => {
    const lab = new ClientLab();
    try {
      await body(lab, t);
      if (lab.type('status').code === 0) lab.type('shutdown');
      await lab.empty();
    } finally {
      await lab.endLeftovers();
      rmSync(lab.dir, { recursive: true, force: true });
      rmSync(`/tmp/corral-${lab.uid}`, { recursive: true, force: true });
    }
  });
}
