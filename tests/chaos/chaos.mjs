// Rounds of chaos, until there were faults enough. README.md says what must hold.
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, killOne, stillRuns } from '../integration/support/processes.mjs';
import { Crew } from './crew.mjs';
import { Daemon } from './daemon.mjs';
import { FAULTS, LAST_FAULTS, endSession } from './faults.mjs';
import { hostileClients } from './hostile.mjs';
import { Random } from './random.mjs';
import { Record } from './record.mjs';

const SEED = Number(process.env.CHAOS_SEED || randomInt(2 ** 31));
const FAULTS_WANTED = Number(process.env.CHAOS_FAULTS || 300);
const SECONDS_WANTED = Number(process.env.CHAOS_SECONDS || 0);
const MUTANT = process.env.CHAOS_MUTANT; // its name, for mutation_check
const HOSTILE = process.env.CHAOS_HOSTILE; // 'none': without them
const FAULTS_PER_ROUND = 30;
const CREW = 10;

class Round {
  constructor(number, record) {
    this.random = new Random(SEED + number * 7919);
    this.record = record;
    this.dir = realpathSync(mkdtempSync(path.join(tmpdir(), 'chaos-')));
    this.daemon = new Daemon(this.dir, `${process.env.CORRAL_TEST_RUN}${number}.`);
    this.crew = new Crew(this.daemon, this.random, record);
    this.stopped = new Set();
  }

  async run() {
    const { daemon, crew } = this;
    const servers = daemon.write();
    await daemon.start();
    // Whatever the daemon opens once for all, it opens for the first of each kind.
    await Promise.all(servers.map((name) => crew.work(name)));
    const before = await this.quiet();

    crew.hire(CREW);
    for (let done = 1; done < FAULTS_PER_ROUND;) {
      await sleep(this.random.between(10, 130));
      if (await this.cause(FAULTS)) done += 1;
    }
    await crew.dismiss();
    daemon.write(); // whole again
    await this.quiet();
    await this.compare(before);

    crew.hire(CREW);
    await sleep(300);
    await this.die();
  }

  async cause(faults) {
    assert.ok(this.daemon.runs, 'the daemon has ended by itself');
    this.daemon.remember();
    const what = await this.random.weighted(faults).act(this);
    if (what) this.record.fault(what);
    return what;
  }

  // Nobody is stopped, nobody calls, and what was started for somebody is gone.
  async quiet() {
    const { daemon, crew } = this;
    await Promise.all([...this.stopped]);
    for (const session of [...crew.sessions]) await endSession(this, session);
    let status;
    try {
      await eventually('quiet', async () => {
        assert.ok(daemon.runs, 'the daemon has ended by itself');
        status = await daemon.status();
        return status && status.sessions.length + status.instances.length + (status.objects?.length ?? 0) === 0;
      });
    } catch (error) {
      assert.fail(`no quiet: ${error.message}: ${JSON.stringify(status)}`);
    }
    daemon.remember();
    const own = new Set([daemon.pid, daemon.janitor]);
    await daemon.allGone('the last session', () => daemon.survivors().filter(({ pid }) => !own.has(pid)));
    return daemon.descriptors();
  }

  // What is open for a moment, such as the registry while its log is copied, is closed soon; a leak stays.
  async compare(before) {
    let after = [];
    const closed = eventually('the descriptors from before', () => {
      after = this.daemon.descriptors();
      return after.length <= before.length;
    });
    const list = (descriptors) => `${descriptors.length}: ${descriptors.sort().join(' ')}`;
    await closed.catch(() =>
      this.record.fail(`descriptors of the daemon\n  before ${list(before)}\n  after ${list(after)}`),
    );
  }

  // The end of the daemon, with everybody at work.
  async die() {
    const { daemon, crew } = this;
    crew.hiring = false;
    crew.excuse(() => true, 'the daemon ended');
    while (!(await this.cause(LAST_FAULTS)));
    const old = [...daemon.known.values()];
    await crew.dismiss();
    await Promise.all([...this.stopped]);
    await daemon.ended;
    await daemon.allGone("the daemon's end", () => old.filter(stillRuns));
    // A shim that came a moment too late has started a daemon of its own.
    if (await daemon.status()) await daemon.shutDown();
    await daemon.allGone('the last daemon');
    for (const line of daemon.slowTurns()) this.record.fail(`slow turn: ${line}`);
  }

  // After a failure: whatever still runs is ours to end.
  async clear() {
    this.crew.hiring = false;
    await eventually('leftovers ended', () => {
      const left = this.daemon.survivors();
      left.forEach((one) => killOne(one));
      return left.length === 0;
    });
  }
}

// For a mutant nobody asks why.
async function explain(round, record) {
  if (!MUTANT) console.log(`${record.lastFaults()}\n${round.daemon.log()}`);
  await round.clear();
  if (MUTANT) return rmSync(round.dir, { recursive: true });
  console.log(`chaos: the files of the last round stay in ${round.dir}`);
}

async function main() {
  console.log(`chaos: CHAOS_SEED=${SEED}`);
  const record = new Record();
  const began = Date.now();
  const seconds = () => Math.round((Date.now() - began) / 1000);
  for (let number = 1; record.faults < FAULTS_WANTED || seconds() < SECONDS_WANTED; ++number) {
    const round = new Round(number, record);
    try {
      await round.run();
    } catch (error) {
      record.fail(error instanceof assert.AssertionError ? error.message : error.stack);
    }
    if (record.failures.length > 0) {
      await explain(round, record);
      break;
    }
    rmSync(round.dir, { recursive: true });
    console.log(`chaos: round ${number}, ${seconds()} s: ${record.line()}`);
  }
  if (record.failures.length === 0 && !MUTANT && HOSTILE !== 'none') {
    const failures = await hostileClients(`${process.env.CORRAL_TEST_RUN}hostile.`);
    failures.forEach((failure) => record.fail(failure));
    console.log(`chaos: hostile clients, ${seconds()} s`);
  }
  const shown = MUTANT ? 3 : 30;
  for (const failure of record.failures.slice(0, shown)) console.log(`chaos: FAILED: ${failure}`);
  if (record.failures.length > shown) console.log(`chaos: and ${record.failures.length - shown} more`);
  if (record.failures.length > 0) console.log(`chaos: repeat with CHAOS_SEED=${SEED}`);
  process.exitCode = record.failures.length > 0 ? 1 : 0;
}

await main();
