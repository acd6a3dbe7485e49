// Runs the official conformance suite against one daemon with a legacy and a modern server behind it, and judges
// what came of it: every failure that expected-failures-TARGET-SET.yml does not name fails the run, and so does
// every entry there that passes.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Daemon, entry, fixtureServer } from '../integration/support/daemon.mjs';
import { HERE as PACKAGES, Lab } from '../integration/support/lab.mjs';
import { describe } from '../integration/support/processes.mjs';
import { Session } from '../integration/support/sdk.mjs';

const { parse } = createRequire(path.join(PACKAGES, 'run'))('yaml');
const SUITE = path.join(PACKAGES, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
const TARGETS = ['legacy', 'modern'];

const required = (revision) => ['--requirements', revision];
const all = (revision) => ['--suite', 'all', '--spec-version', revision];
const one = (scenario) => ['--scenario', scenario, '--spec-version', '2026-07-28'];

// `clean`: the suite itself must call it a pass, and not only we.
const RUNS = [
  { target: 'legacy', set: '2025-11-25', args: required('2025-11-25'), clean: true },
  { target: 'legacy', set: 'all-2025-06-18', args: all('2025-06-18'), clean: true },
  { target: 'legacy', set: 'all-2025-03-26', args: all('2025-03-26'), clean: true },
  { target: 'legacy', set: '2026-07-28', args: required('2026-07-28') },
  // First: a log line goes to nobody for a minute after somebody else gave up a call on the same server.
  { target: 'modern', set: '2025-11-25', args: required('2025-11-25') },
  { target: 'modern', set: '2026-07-28', args: required('2026-07-28'), clean: true },
  { target: 'modern', set: 'headers', args: one('http-header-validation'), clean: true },
  { target: 'modern', set: 'param-headers', args: one('http-custom-header-server-validation'), clean: true },
];
const nameOf = ({ target, set }) => `${target}-${set}`;

// ---- what the suite says

function runSuite(run, url, out) {
  mkdirSync(out, { recursive: true });
  const child = spawn(process.execPath, [SUITE, 'server', '--url', url, '-o', out, ...run.args]);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, said })));
}

// Checks by scenario. The directory is named server-SCENARIO-TIME.
function readChecks(out) {
  const folders = readdirSync(out).filter((name) => existsSync(path.join(out, name, 'checks.json')));
  return new Map(
    folders.map((name) => {
      const scenario = /^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(name)[1];
      return [scenario, JSON.parse(readFileSync(path.join(out, name, 'checks.json'), 'utf8'))];
    }),
  );
}

// ---- what we make of it

const isFailure = ({ status }) => status === 'FAILURE';

function expectedOf(run) {
  const file = path.join(import.meta.dirname, `expected-failures-${nameOf(run)}.yml`);
  return existsSync(file) ? parse(readFileSync(file, 'utf8')).server : [];
}

// An entry is a scenario, or one check of it as SCENARIO:CHECK.
const covers = (entry, scenario, { id }) => entry === scenario || entry === `${scenario}:${id}`;

function judge(run, { code, said }, checks) {
  const failures = [...checks].flatMap(([scenario, list]) =>
    list.filter(isFailure).map((check) => ({ scenario, check })),
  );
  const expected = expectedOf(run);
  const isExpected = ({ scenario, check }) => expected.some((item) => covers(item, scenario, check));
  const problems = failures
    .filter((failure) => !isExpected(failure))
    .map(
      ({ scenario, check }) => `${scenario}:${check.id} failed: ${check.errorMessage ?? check.description}`,
    );
  const stale = expected.filter(
    (item) => !failures.some(({ scenario, check }) => covers(item, scenario, check)),
  );
  problems.push(...stale.map((item) => `${item} is expected to fail and does not: remove the entry`));
  if (checks.size === 0) problems.push(`no results: ${said.slice(-2000)}`);
  if (run.clean && code !== 0) problems.push(`the suite says ${code}: ${said.slice(-500)}`);
  return problems;
}

function summary(checks) {
  const every = [...checks.values()];
  const count = (wanted) => every.flat().filter(({ status }) => status === wanted).length;
  return {
    passed: every.filter((list) => !list.some(isFailure)).length,
    total: every.length,
    checks: `${count('SUCCESS')}/${count('FAILURE')}/${count('WARNING')}`,
  };
}

// ---- all of it

// The suite gives a server half a second on some streams, so both have been asked before it begins, and the era
// of each is known.
async function warmUp(daemon) {
  for (const target of TARGETS) {
    for (const sdk of ['v1', 'v2 modern']) {
      const session = await Session.at(await daemon.url(target), { sdk });
      await session.tools();
      await session.call('test_simple_text');
      await session.leave();
    }
  }
}

// The modern server is one process for all, and some scenarios change its lists: so one run after the other for
// each server, and the two servers beside each other.
async function runAll(runs, daemon, out) {
  const results = new Map();
  await Promise.all(
    TARGETS.map(async (target) => {
      const url = await daemon.url(target);
      for (const run of runs.filter((candidate) => candidate.target === target)) {
        const folder = path.join(out, nameOf(run));
        const began = Date.now();
        const ended = await runSuite(run, url, folder);
        const checks = readChecks(folder);
        const seconds = (Date.now() - began) / 1000;
        results.set(run, { ...summary(checks), seconds, problems: judge(run, ended, checks) });
      }
    }),
  );
  return results;
}

function print(results) {
  const line = (...cells) => console.log(`| ${cells.join(' | ')} |`);
  line('server', 'set', 'scenarios', 'checks ok/failed/warned', 'expected to fail', 'seconds', 'verdict');
  line(...Array(7).fill('---'));
  for (const [run, { passed, total, checks, seconds, problems }] of results) {
    const verdict = problems.length === 0 ? 'ok' : 'FAILED';
    line(
      run.target,
      run.set,
      `${passed}/${total}`,
      checks,
      expectedOf(run).length,
      seconds.toFixed(1),
      verdict,
    );
  }
  for (const [run, { problems }] of results) {
    problems.forEach((problem) => console.log(`${nameOf(run)}: ${problem}`));
  }
  return [...results.values()].every(({ problems }) => problems.length === 0);
}

async function main(names) {
  const runs = names.length === 0 ? RUNS : RUNS.filter((run) => names.includes(nameOf(run)));
  const lab = new Lab();
  const out = process.env.CONFORMANCE_OUT ?? path.join(lab.dir, 'out');
  const life = '--life=240';
  const servers = Object.fromEntries(TARGETS.map((era) => [era, entry(fixtureServer(`--${era}`, life))]));
  let good = false;
  try {
    const daemon = await Daemon.start(lab, servers, {}, ['--port', '0']);
    await warmUp(daemon);
    good = print(await runAll(runs, daemon, out));
    await daemon.shutDown();
    await lab.empty();
  } finally {
    if (lab.survivors().length > 0) console.log(`left behind: ${describe(lab.survivors())}`);
    await lab.endLeftovers();
    rmSync(lab.dir, { recursive: true, force: true });
  }
  return good ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
