// Looks at the machine's processes through /proc. A test marks everything that it starts with a unique
// tag in the environment (or on the command line) and asks here what is still alive.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export const TAG_NAME = 'CORRAL_TEST_TAG';

function readProc(pid, name) {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    // The process ended while we were looking, or it is not ours to read.
    return '';
  }
}

// comm may hold spaces and brackets, so the fields are counted from the last bracket on.
function readStat(pid) {
  const text = readProc(pid, 'stat');
  const end = text.lastIndexOf(')');
  if (end < 0) return null;
  const fields = text.slice(end + 2).split(' ');
  return {
    pid,
    comm: text.slice(text.indexOf('(') + 1, end),
    state: fields[0],
    ppid: Number(fields[1]),
    started: fields[19],
  };
}

// A zombie holds nothing and cannot be ended any further, it only waits for its parent.
const isAlive = (process) => process !== null && process.state !== 'Z' && process.state !== 'X';

export function liveProcesses() {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readStat(Number(name)))
    .filter(isAlive);
}

export function tagged(tag) {
  return liveProcesses().filter(
    ({ pid }) => readProc(pid, 'environ').includes(tag) || readProc(pid, 'cmdline').includes(tag),
  );
}

// The process itself first, then everything below it.
export function treeBelow(root) {
  const all = liveProcesses();
  const found = all.filter(({ pid }) => pid === root);
  for (const parent of found) {
    found.push(...all.filter(({ ppid }) => ppid === parent.pid));
  }
  return found;
}

// A pid alone may belong to somebody else by now; pid and start time together may not.
export function stillRuns({ pid, started }) {
  const now = readStat(pid);
  return isAlive(now) && now.started === started;
}

export function killOne(process_, signal = 'SIGKILL') {
  if (!stillRuns(process_)) return;
  try {
    process.kill(process_.pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

export function describe(processes) {
  return processes.map(({ pid, comm }) => `${comm}(${pid})`).join(' ') || 'none';
}

// Waits until `probe` returns something true and returns that. The limit only bounds a failing test.
export async function eventually(what, probe, limitMs = 15_000) {
  const deadline = Date.now() + limitMs;
  for (;;) {
    const result = await probe();
    if (result) return result;
    if (Date.now() > deadline) throw new Error(`waited ${limitMs} ms for: ${what}`);
    await sleep(50);
  }
}

// `corral run` has exactly one child of this name, and needs a moment to start it.
export function keeperOf(outer) {
  const isKeeper = ({ ppid, comm }) => ppid === outer && comm === 'corral-keeper';
  return eventually('the keeper', () => liveProcesses().find(isKeeper));
}
