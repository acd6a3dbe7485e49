// Client programs that hold servers, and what `corral doctor --json` says about those that a test started.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { CORRAL, HERE } from './lab.mjs';
import { tagged } from './processes.mjs';
import { Victim } from './victim.mjs';

const SCHEMA = path.join(HERE, '../../docs/doctor-schema.json');
const matchesSchema = new Ajv2020({ allErrors: true, strictTypes: false }).compile(
  JSON.parse(readFileSync(SCHEMA, 'utf8')),
);

// A program of its own that starts `servers` with the SDK of that version. It has its own process group, as
// everything that is typed in a terminal has.
export class Holder extends Victim {
  constructor(lab, version, servers, options = {}) {
    const program = path.join(HERE, 'support', `sdk-${version}`, 'holder.mjs');
    const plan = JSON.stringify({ servers, cwd: HERE });
    super(lab, [process.execPath, program, plan], { detached: true, ...options });
    this.id = `mcp-sdk-${version}`;
  }

  static async connected(...args) {
    const holder = new Holder(...args);
    await holder.says('connected');
    return holder;
  }

  // The program goes on without its servers.
  async close() {
    this.child.stdin.write('close\n');
    await this.says('closed');
  }
}

// It does not leave when its input ends. The tag in its command line is what `--match` finds.
export function lingering(lab) {
  return [process.execPath, path.join(HERE, 'support', 'lingering-mcp.mjs'), lab.tag];
}

// The second command keeps the shell from becoming the server.
export function behindShell(command) {
  return ['/bin/sh', '-c', `${command.join(' ')}; true`];
}

export function homeOf(lab) {
  const home = path.join(lab.dir, 'home');
  mkdirSync(home, { recursive: true });
  return home;
}

// An empty home, so that what the user of this machine has configured makes no difference.
export async function corral(lab, ...args) {
  const env = { ...process.env, HOME: homeOf(lab) };
  const { stdout } = await promisify(execFile)(CORRAL, args, { env, cwd: lab.dir, maxBuffer: 64 << 20 });
  return stdout;
}

// Everything that the lab started, and nothing of what else runs on this machine. A finding that is also about
// others is not the lab's: two tests that run the same server in this directory at the same time are a duplicate.
export async function look(lab) {
  const text = await corral(lab, 'doctor', '--json');
  const survey = JSON.parse(text);
  assert.ok(matchesSchema(survey), JSON.stringify(matchesSchema.errors));
  const ours = new Set(tagged(lab.tag).map(({ pid }) => pid));
  const servers = survey.servers.filter(({ pid }) => ours.has(pid));
  const tops = new Set(servers.map(({ pid }) => pid));
  const findings = survey.findings.filter((finding) => finding.servers.every((pid) => tops.has(pid)));
  return { survey, servers, findings };
}

export const kindsOf = (server) => server.evidence.map(({ kind }) => kind);
export const evidenceOf = (server) => server.evidence.map(({ kind, text }) => `${kind}: ${text}`).join('\n');
