// One lab per test: a tag, a scratch directory, and the promise that nothing which carries the tag is alive
// when the test ends. Leftovers are ended by pid and make the test fail.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { TAG_NAME, describe, eventually, killOne, stillRuns, tagged, treeBelow } from './processes.mjs';
import { parseReport } from './report.mjs';

export const HERE = path.dirname(import.meta.dirname);
export const CORRAL = path.resolve(process.env.CORRAL_BIN ?? path.join(HERE, '../../build/dev/bin/corral'));

// `run` gives all tests of one run the same prefix, so that it can look for leftovers once more at the end.
const RUN_PREFIX = process.env.CORRAL_TEST_RUN ?? `corral-it-${process.pid}.`;

export class Lab {
  constructor() {
    this.tag = `${RUN_PREFIX}${randomBytes(6).toString('hex')}.`;
    this.dir = mkdtempSync(path.join(tmpdir(), 'corral-it-'));
    this.known = new Map();
    this.reports = 0;
    // The SDK hands a server only a short list of variables, so whatever must arrive is named here.
    this.env = {
      [TAG_NAME]: this.tag,
      PATH: process.env.PATH,
      MEMORY_FILE_PATH: path.join(this.dir, 'memory.jsonl'),
      // npx must find the pinned packages and never ask the network.
      npm_config_offline: 'true',
      npm_config_update_notifier: 'false',
      npm_config_cache: path.join(this.dir, 'npm-cache'),
    };
  }

  // Remembers a tree process by process. A process may drop its environment; then only this finds it.
  watch(pid) {
    const tree = treeBelow(pid);
    for (const process of tree) this.known.set(`${process.pid}/${process.started}`, process);
    return tree;
  }

  survivors() {
    const byPid = new Map(tagged(this.tag).map((process) => [process.pid, process]));
    for (const process of this.known.values()) {
      if (stillRuns(process)) byPid.set(process.pid, process);
    }
    return [...byPid.values()];
  }

  async empty() {
    try {
      await eventually('no process left', () => this.survivors().length === 0);
    } catch {
      assert.fail(`processes left: ${describe(this.survivors())}`);
    }
  }

  async endLeftovers() {
    await eventually('leftovers ended', () => {
      const left = this.survivors();
      left.forEach((process) => killOne(process));
      return left.length === 0;
    });
  }

  newReport() {
    this.reports += 1;
    return path.join(this.dir, `report-${this.reports}.json`);
  }

  // The report is written after the tree is gone, by a process that nobody here waits for.
  async report(file) {
    const complete = () => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n');
    await eventually(`a report in ${path.basename(file)}`, complete);
    return parseReport(readFileSync(file, 'utf8'));
  }
}

// Like test(), with a lab as argument of the body.
export function labTest(name, options, body) {
  test(name, { timeout: 90_000, ...options }, async (t) => {
    const lab = new Lab();
    try {
      await body(lab, t);
      await lab.empty();
    } finally {
      await lab.endLeftovers();
      rmSync(lab.dir, { recursive: true, force: true });
    }
  });
}
