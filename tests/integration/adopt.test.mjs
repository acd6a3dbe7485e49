// `corral adopt` and `corral release` typed in a home with files of many clients. Parsers that are not corral's (the
// one of node, and tomllib of Python) see the change of the two values and nothing else; the command that is then in the
// file is started as a client would start it, and leaves nothing; the release gives back the same bytes.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { stripComments, stripLastCommas } from './support/client_config.mjs';
import { CLIENT_FILES } from './support/client_files.mjs';
import { CORRAL, labTest } from './support/lab.mjs';
import { openSession } from './support/session.mjs';

const NAMES = Object.keys(CLIENT_FILES);
const TOML = 'import json, sys, tomllib; print(json.dumps(tomllib.loads(sys.stdin.read())))';

function parse(file, text) {
  if (!file.endsWith('.toml')) return JSON.parse(stripLastCommas(stripComments(text.replace(/^\uFEFF/, ''))));
  const { status, stdout, stderr } = spawnSync('python3', ['-c', TOML], { input: text, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

function tablesAt(value, [key, ...rest]) {
  if (key === undefined) return [value];
  const inner = key === '*' ? Object.values(value) : [value[key]];
  return inner.flatMap((one) => tablesAt(one, rest));
}

// Every entry that has a command, in the order of the file.
const entriesOf = (file, value) =>
  CLIENT_FILES[file].servers
    .flatMap((keys) => tablesAt(value, keys.split('/')))
    .flatMap((table) => Object.entries(table))
    .filter(([, entry]) => entry.command !== undefined);

// Command and arguments as one list, whatever the shape of the entry.
function wordsOf({ command, args = [] }) {
  if (Array.isArray(command)) return command;
  return typeof command === 'string' ? [command, ...args] : [command.path, ...(command.args ?? [])];
}

// Changes an entry as corral should have done.
function wrap(entry) {
  const [command, ...args] = [CORRAL, 'run', '--', ...wordsOf(entry)];
  if (Array.isArray(entry.command)) entry.command = [command, ...args];
  else if (typeof entry.command === 'string') Object.assign(entry, { command, args });
  else Object.assign(entry.command, { path: command, args });
}

class Home {
  constructor(lab) {
    this.folder = path.join(lab.dir, 'home');
    for (const [file, { text }] of Object.entries(CLIENT_FILES)) {
      mkdirSync(path.dirname(this.path(file)), { recursive: true });
      this.write(file, text);
    }
    this.env = { ...lab.env, HOME: this.folder };
  }

  path(file) {
    return path.join(this.folder, file);
  }

  read(file) {
    return readFileSync(this.path(file), 'utf8');
  }

  write(file, text) {
    writeFileSync(this.path(file), text, { mode: 0o600 });
  }

  type(...words) {
    const { status, stdout, stderr } = spawnSync(CORRAL, words, { cwd: this.folder, env: this.env, encoding: 'utf8' });
    return { code: status, out: stdout, said: `corral ${words.join(' ')}: ${status}\n${stdout}\n${stderr}` };
  }

  typeAtOnce(count, ...words) {
    const one = () =>
      new Promise((resolve) => {
        const options = { cwd: this.folder, env: this.env };
        execFile(CORRAL, words, options, (error, stdout) => resolve({ code: error?.code ?? 0, out: stdout }));
      });
    return Promise.all(Array.from({ length: count }, one));
  }
}

async function start(lab, entry) {
  const session = await openSession(lab, wordsOf(entry));
  const { tools } = await session.client.listTools();
  await session.client.close();
  assert.ok(tools.some((tool) => tool.name === 'echo'));
}

labTest('adopt changes two values of each entry, which then starts and ends the server, and release undoes it', {}, async (lab) => {
  const home = new Home(lab);

  const shown = home.type('adopt', '--dry-run');
  assert.equal(shown.code, 0, shown.said);
  for (const file of NAMES) assert.equal(home.read(file), CLIENT_FILES[file].text, 'a dry run writes nothing');

  const adopted = home.type('adopt', '--all', '--run', '--yes');
  assert.equal(adopted.code, 0, adopted.said);
  for (const file of NAMES) {
    const wanted = parse(file, CLIENT_FILES[file].text);
    const entries = entriesOf(file, wanted);
    assert.notEqual(entries.length, 0, file);
    for (const [, entry] of entries) wrap(entry);
    const now = parse(file, home.read(file));
    assert.deepEqual(now, wanted, `${file}: these values and nothing else`);

    for (const [name, entry] of entriesOf(file, now)) {
      if (name === 'everything') await start(lab, entry);
    }
  }
  await lab.empty();

  assert.equal(home.type('adopt', '--all', '--run', '--yes').code, 3, 'there is nothing left to do');
  assert.equal(home.type('adopt', '--status').code, 0);
  const released = home.type('release', '--all', '--yes');
  assert.equal(released.code, 0, released.said);
  for (const file of NAMES) assert.equal(home.read(file), CLIENT_FILES[file].text, `${file}: the same bytes`);
  assert.equal(home.type('release', '--all', '--yes').code, 3, 'there is nothing left to release');
});

labTest('release keeps what the client has written since, in its own layout', {}, async (lab) => {
  const home = new Home(lab);
  const wanted = {};
  const adopted = home.type('adopt', '--all', '--yes');
  assert.equal(adopted.code, 0, adopted.said);
  for (const file of NAMES) {
    wanted[file] = { ...parse(file, CLIENT_FILES[file].text), added: { a: 1 } };
    const now = { ...parse(file, home.read(file)), added: { a: 1 } };
    home.write(file, file.endsWith('.toml') ? `${home.read(file)}\n[added]\na = 1\n` : JSON.stringify(now, null, 4));
  }

  const released = home.type('release', '--all', '--yes');

  assert.equal(released.code, 0, released.said);
  for (const file of NAMES) assert.deepEqual(parse(file, home.read(file)), wanted[file], file);
});

labTest('four that adopt at once, and four that release at once, do it once', {}, async (lab) => {
  const home = new Home(lab);
  // The names of what each of them has changed, of all files.
  const changed = (ends) => ends.flatMap(({ out }) => JSON.parse(out).outcomes.flatMap((outcome) => outcome.changed));
  const entries = NAMES.flatMap((file) => entriesOf(file, parse(file, CLIENT_FILES[file].text)));

  const adopted = await home.typeAtOnce(4, 'adopt', '--all', '--yes', '--json');
  assert.equal(changed(adopted).length, entries.length, JSON.stringify(adopted));
  for (const { code } of adopted) assert.ok(code === 0 || code === 3, JSON.stringify(adopted));
  assert.equal(home.type('adopt', '--status').code, 0);

  const released = await home.typeAtOnce(4, 'release', '--all', '--yes', '--json');
  assert.equal(changed(released).length, entries.length, JSON.stringify(released));
  for (const { code } of released) assert.ok(code === 0 || code === 3, JSON.stringify(released));
  for (const file of NAMES) assert.equal(home.read(file), CLIENT_FILES[file].text, `${file}: the same bytes`);
});
