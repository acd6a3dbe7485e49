// The transcripts in docs/troubleshooting.md, typed as they stand there. They are about all servers of a machine, so each
// section has a PID namespace of its own, in which nothing runs but what the section says: an agent that holds copies
// of a server, servers that have lost their agent, a server that no known client holds.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { FreshHome } from './support/fresh_home.mjs';
import { HERE, labTest } from './support/lab.mjs';
import { asPattern, blocksOf, pageOf, withoutChance } from './support/pages.mjs';
import { eventually } from './support/processes.mjs';

const PAGE = pageOf('docs/troubleshooting.md');

// As root without a user namespace, as anybody else with one.
const NAMESPACE = ['--pid', '--fork', '--mount-proc', '--kill-child'];
if (process.getuid() !== 0) NAMESPACE.push('--user', '--map-root-user');
function namespacesRefused() {
  const probe = spawnSync('unshare', [...NAMESPACE, 'true'], { encoding: 'utf8', timeout: 9_000 });
  if (probe.status === 0) return false;
  return `no PID namespace on this machine: ${probe.error?.message ?? probe.stderr.trim()}`;
}

// The programs of the page. All end by themselves after a minute, and none notices the end of its input.
const AGENT = `
import { spawn } from 'node:child_process';
const [count, program, ...args] = process.argv.slice(2);
for (let one = 0; one < Number(count); one += 1) spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'] });
setTimeout(() => process.exit(), 60_000);
`;
const SERVER = 'setTimeout(() => process.exit(), 60_000);\n';
const WEATHER = 'import time\ntime.sleep(60)\n';
const HOLDER = `
require('node:child_process').spawn('/usr/bin/python3', [process.env.HOME + '/bin/weather.py']);
setTimeout(() => process.exit(), 60_000);
`;

function writePrograms(home) {
  const write = (name, text) => {
    mkdirSync(path.dirname(path.join(home, name)), { recursive: true });
    writeFileSync(path.join(home, name), text);
  };
  for (const [name, version, program] of [['notes-mcp', '1.4.0', 'server.mjs'], ['agent', '1.0.0', 'agent.mjs']]) {
    const dependencies = { '@modelcontextprotocol/sdk': '*' };
    write(`${name}/package.json`, JSON.stringify({ name, version, type: 'module', dependencies }));
    write(`${name}/${program}`, name === 'agent' ? AGENT : SERVER);
    symlinkSync(path.join(HERE, 'node_modules'), path.join(home, name, 'node_modules'));
  }
  write('bin/weather.py', WEATHER);
  write('other.cjs', HOLDER);
}

// A shell that is the first process of a namespace, and ends with everything in it.
class Machine {
  constructor(lab) {
    const home = new FreshHome(lab, 0);
    rmSync(path.join(home.home, '.claude.json'));
    writePrograms(home.home);
    this.home = home.home;
    this.demo = path.join(home.home, 'demo');
    mkdirSync(this.demo);
    this.said = '';
    // The path of the home is longer than that of the page, and would be cut where the page shows something.
    const env = { ...home.env, COLUMNS: '200' };
    this.shell = spawn('unshare', [...NAMESPACE, 'bash', '-s'], { cwd: this.demo, env });
    this.shell.stdout.on('data', (text) => (this.said += text));
    this.shell.stdin.write('exec 2>&1\n');
    this.ended = new Promise((resolve) => this.shell.once('close', resolve));
    lab.watch(this.shell.pid);
  }

  // What the line prints, without the line end.
  async type(line) {
    const mark = `--- ${(this.lines = (this.lines ?? 0) + 1)} ---`;
    this.shell.stdin.write(`{ ${line}\n} </dev/null; printf '\\n${mark}\\n'\n`);
    await eventually(`the end of ${line}`, () => this.said.includes(`\n${mark}\n`));
    const [text, rest] = this.said.split(`\n${mark}\n`);
    this.said = rest;
    return text;
  }

  // Starts it without waiting for it. The pid is that of the namespace.
  async start(line) {
    const pid = await this.type(`${line} >/dev/null 2>&1 & echo $!`);
    return Number(/(\d+)\s*$/.exec(pid)[1]);
  }

  // The servers of that name, by pid, when there are that many.
  async servers(count, pattern = 'notes-mcp/server.mjs') {
    const pids = async () => {
      const found = await this.type(`pgrep -f '^[^ ]*(node|python3) [^ ]*${pattern}'`);
      const all = found.split('\n').filter(Boolean).map(Number);
      return all.length === count ? all : null;
    };
    return eventually(`${count} of ${pattern}`, pids);
  }

  async shut() {
    this.shell.stdin.end();
    await this.ended;
  }
}

const AN_AGENT = (count, ...command) => `node ~/agent/agent.mjs ${count} ${command.join(' ')}`;
const NODE_SERVER = ['node', '~/notes-mcp/server.mjs'];
const BEHIND_SHELL = ['sh', '-c', '"node $HOME/notes-mcp/server.mjs; true"'];

const AS_NOBODY = ['setpriv', '--reuid', '65534', '--clear-groups'];
// PTRACE_SEIZE, and nothing else.
const DEBUGGER =
  'import ctypes, sys, time; ctypes.CDLL(None).ptrace(0x4206, int(sys.argv[1]), None, None); time.sleep(60)';

// What is there before the first line of a section, and the process that a line is about. `then`: what happens
// after that line.
const SECTIONS = {
  'Servers keep accumulating': async (machine) => {
    const first = await machine.start(AN_AGENT(3, ...NODE_SERVER));
    await machine.servers(3);
    await machine.type(`kill -KILL ${first}`);
    const agent = await machine.start(AN_AGENT(11, ...NODE_SERVER));
    await machine.servers(14);
    return { 'corral reap --pile-ups --parent 93 --yes': agent };
  },
  'A server cannot be ended': async (machine) => {
    for (const folder of [path.dirname(machine.home), machine.home]) chmodSync(folder, 0o755);
    const mine = await machine.start(AN_AGENT(1, ...NODE_SERVER));
    const [debugged] = await machine.servers(1);
    await machine.start(`python3 -c '${DEBUGGER}' ${debugged}`);
    const others = await machine.start(AN_AGENT(1, ...AS_NOBODY, ...NODE_SERVER));
    await machine.servers(2);
    await machine.type(`kill -KILL ${mine} ${others}`);
    await eventually('a debugger', async () =>
      /TracerPid:\s+[1-9]/.test(await machine.type(`cat /proc/${debugged}/status`)),
    );
    return {};
  },
  'A server does not start': async (machine) => {
    await machine.type('corral add notes -- notes-mcp');
    await machine.type(`echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}' | corral connect notes`);
    return {};
  },
  'Version mismatch or stale code': async (machine) => {
    await machine.start(AN_AGENT(1, ...NODE_SERVER));
    await machine.servers(1);
    await machine.type('touch -d "now + 2 seconds" ~/notes-mcp/server.mjs');
    return {};
  },
  '`doctor` does not see my server': async (machine) => {
    await machine.start('node ~/other.cjs');
    const [weather] = await machine.servers(1, 'weather.py');
    const entry = { command: '/usr/bin/python3', args: [`${machine.home}/bin/weather.py`] };
    const configure = () => {
      writeFileSync(path.join(machine.home, '.claude.json'), JSON.stringify({ mcpServers: { weather: entry } }));
      mkdirSync(path.join(machine.home, '.cursor'));
      writeFileSync(path.join(machine.home, '.cursor/mcp.json'), '{"mcpServers": {\n');
    };
    return { 'corral who 16': weather, then: { 'corral who 16': configure } };
  },
  'Which process belongs to which client': async (machine) => {
    const agent = await machine.start(AN_AGENT(1, ...BEHIND_SHELL));
    const [server] = await machine.servers(1);
    const [shell] = (await machine.type(`ps -o ppid= -p ${server}`)).trim().split('\n');
    const killShell = () => machine.type(`kill -KILL ${shell}`);
    return { 'corral who 18': server, 'corral who 3': agent, then: { 'corral who 18': killShell } };
  },
};

// What a section needs beyond a namespace, if it is not here.
const NEEDS = {
  'A server cannot be ended': () => (process.getuid() === 0 ? false : 'only root has servers of other users'),
};

// The blocks below each heading.
const sectionsOf = (text) =>
  text
    .split(/^## /m)
    .slice(1)
    .map((section) => [section.split('\n')[0], blocksOf(section).flat()])
    .filter(([, commands]) => commands.length > 0);

// Pids and versions are different each time, too.
const bare = (text) =>
  withoutChance(text)
    .replace(/\(pid \d+\)|--parent \d+|\bwho \d+/g, (found) => found.replace(/\d+/, 'N'))
    .replace(/\b\d+(?=: | (?:orphan|serving) AGE| (?:node|sh|bash|python3)\b)/g, 'N')
    .replace(/\bstarted \d+ s after/g, 'started N s after')
    .replace(/\bsdk \d[\d.]*/g, 'sdk VERSION');

test('each section with commands has a row here, and each row a section', () => {
  assert.deepEqual(sectionsOf(PAGE).map(([heading]) => heading).sort(), Object.keys(SECTIONS).sort());
});

const skip = namespacesRefused();
for (const [heading, commands] of sectionsOf(PAGE)) {
  const needed = heading in NEEDS ? NEEDS[heading]() : false;
  const options = { skip: skip || needed };
  labTest(`docs/troubleshooting.md, ${heading}: the outputs are those that it shows`, options, async (lab) => {
    const machine = new Machine(lab);
    try {
      const about = await SECTIONS[heading](machine);
      for (const { line, shown } of commands) {
        const words = line in about ? line.replace(/\d+/, about[line]) : line;
        const printed = (await machine.type(words)).replaceAll(machine.home, '~').replaceAll('~/demo', '/tmp/demo');
        assert.match(bare(printed), asPattern(bare(shown)), `${words}\n${printed}`);
        await about.then?.[line]?.();
        delete about.then?.[line];
      }
    } finally {
      await machine.shut();
    }
    await lab.empty();
  });
}
