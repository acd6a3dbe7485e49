// `corral doctor` and `corral reap` on what real clients leave behind: programs of both official SDKs,
// servers started through npx, clients and wrappers that are killed.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  Holder,
  behindShell,
  corral,
  evidenceOf,
  homeOf,
  kindsOf,
  lingering,
  look,
} from './support/doctor.mjs';
import { HERE, labTest } from './support/lab.mjs';
import { eventually, killOne, stillRuns } from './support/processes.mjs';
import { underCorral, viaNode, viaNpx } from './support/session.mjs';

const EVERYTHING = '@modelcontextprotocol/server-everything';
const FILESYSTEM = '@modelcontextprotocol/server-filesystem';

const installedVersion = (name) =>
  JSON.parse(readFileSync(path.join(HERE, 'node_modules', name, 'package.json'), 'utf8')).version;

function assertServes(server, holder) {
  assert.equal(server.state, 'serving', evidenceOf(server));
  assert.equal(server.certainty, 'confirmed', evidenceOf(server));
  assert.equal(server.cause, null);
  assert.equal(server.client.pid, holder.pid, evidenceOf(server));
  assert.equal(server.client.id, holder.id);
  for (const kind of ['pipe', 'package', 'parent']) {
    assert.ok(kindsOf(server).includes(kind), `no ${kind} in: ${evidenceOf(server)}`);
  }
}

// The process at the other end of a pipe notices a death a little later than we do.
function becomesOrphan(lab, count = 1) {
  return eventually(`${count} orphans`, async () => {
    const seen = await look(lab);
    return seen.servers.filter(({ state }) => state === 'orphan').length === count && seen;
  });
}

function assertLostItsLauncher({ servers, findings }, holder) {
  const [server] = servers.filter(({ state }) => state === 'orphan');
  assert.equal(server.cause, 'launcher-gone', evidenceOf(server));
  assert.equal(server.certainty, 'confirmed');
  assert.equal(server.client.pid, holder.pid, evidenceOf(server));
  assert.equal(server.client.id, holder.id, evidenceOf(server));
  assert.match(evidenceOf(server), new RegExp(`\\b${holder.pid}\\b`), 'the evidence names the client');
  const [finding] = findings.filter(({ kind }) => kind === 'orphan');
  assert.deepEqual(finding.servers, [server.pid]);
  assert.match(finding.explanation, /launcher .* is gone/);
  assert.match(finding.next, /^corral reap --orphans /);
}

for (const version of ['v1', 'v2']) {
  labTest(`a server that SDK ${version} started through npx is named with its client`, {}, async (lab) => {
    const holder = await Holder.connected(lab, version, [viaNpx('everything')]);

    const { survey, servers, findings } = await look(lab);

    assert.equal(servers.length, 1, JSON.stringify(servers));
    assertServes(servers[0], holder);
    assert.equal(servers[0].name, EVERYTHING);
    assert.equal(servers[0].version, installedVersion(EVERYTHING));
    assert.equal(servers[0].root, HERE);
    assert.ok(servers[0].processes.length >= 2, 'npx and the server below it are one tree');
    assert.deepEqual(findings, []);
    const [client] = survey.clients.filter(({ pid }) => pid === holder.pid);
    assert.deepEqual(client.servers, [servers[0].pid]);
    await holder.kill('SIGKILL');
  });

  labTest(`npx is killed below SDK ${version}: its server keeps client and reason`, {}, async (lab) => {
    const command = ['npx', '-c', lingering(lab).join(' ')];
    const holder = await Holder.connected(lab, version, [command]);
    const before = await look(lab);
    assert.equal(before.servers.length, 1, JSON.stringify(before.servers));
    assertServes(before.servers[0], holder);

    const [npx] = lab.watch(before.servers[0].pid);
    killOne(npx);

    assertLostItsLauncher(await becomesOrphan(lab), holder);
    await holder.kill('SIGKILL');
    await lab.endLeftovers();
  });

  labTest(`SDK ${version} closes a server behind a shell: an orphan of a running client`, {}, async (lab) => {
    const holder = await Holder.connected(lab, version, [behindShell(lingering(lab))]);

    await holder.close();

    assertLostItsLauncher(await becomesOrphan(lab), holder);
    assert.equal(holder.child.exitCode, null, 'the client goes on');
    await holder.kill('SIGKILL');
    await lab.endLeftovers();
  });

  labTest(`SDK ${version} is killed: what ignores the end of its input is an orphan`, {}, async (lab) => {
    const holder = await Holder.connected(lab, version, [lingering(lab), behindShell(lingering(lab))]);

    await holder.kill('SIGKILL');

    const { servers, findings } = await becomesOrphan(lab, 2);
    for (const server of servers) {
      assert.equal(server.cause, 'client-gone', evidenceOf(server));
      assert.equal(server.certainty, 'confirmed');
      assert.equal(server.client.alive, false, evidenceOf(server));
    }
    const told = findings.filter(({ kind }) => kind === 'orphan').flatMap((finding) => finding.servers);
    assert.deepEqual(told.sort(), servers.map(({ pid }) => pid).sort());
    await lab.endLeftovers();
  });
}

// A program of SDK 1 may be either; one that depends on the client half of SDK 2 cannot.
labTest('a program of the client SDK without servers is not a server itself', {}, async (lab) => {
  const holder = await Holder.connected(lab, 'v2', [viaNode('memory')]);

  await holder.close();

  await eventually('only the client is left', () => lab.survivors().length === 1);
  const { servers } = await look(lab);
  assert.deepEqual(servers.map(evidenceOf), []);
  await holder.kill('SIGKILL');
});

labTest('reap ends the orphans and leaves the servers of a living client alone', {}, async (lab) => {
  const commands = [lingering(lab), behindShell(lingering(lab))];
  const victim = await Holder.connected(lab, 'v1', [lingering(lab), ...commands]);
  const living = await Holder.connected(lab, 'v2', commands);
  const spared = lab.watch(living.pid);
  await victim.kill('SIGKILL');
  await becomesOrphan(lab, 3);

  const choice = ['reap', '--orphans', '--match', lab.tag];
  assert.match(await corral(lab, ...choice), /Ended: nothing \(dry run\)/);
  assert.equal((await look(lab)).servers.length, 5, 'a dry run ends nothing');
  const said = await corral(lab, ...choice, '--yes');

  assert.match(said, /Ended: 3 servers/);
  const { servers, findings } = await look(lab);
  assert.equal(servers.length, 2, JSON.stringify(servers));
  servers.forEach((server) => assertServes(server, living));
  assert.deepEqual(findings, []);
  assert.deepEqual(spared.filter((process_) => !stillRuns(process_)), []);
  assert.match(await corral(lab, ...choice, '--yes'), /Ended: 0 servers/);
  await living.kill('SIGKILL');
  await lab.endLeftovers();
});

labTest('a server of a configuration is found again in the process that npx made of it', {}, async (lab) => {
  const command = ['npx', '-y', FILESYSTEM, lab.dir];
  const [program, ...args] = command;
  mkdirSync(path.join(homeOf(lab), '.codex'));
  const codex = `[mcp_servers.documents]\ncommand = "${program}"\nargs = ${JSON.stringify(args)}\n`;
  writeFileSync(path.join(homeOf(lab), '.codex', 'config.toml'), codex);
  const other = { command: program, args: ['-y', 'some-other-server'] };
  const claude = { mcpServers: { docs: { command: program, args }, other } };
  writeFileSync(path.join(homeOf(lab), '.claude.json'), JSON.stringify(claude));
  const holder = await Holder.connected(lab, 'v1', [command]);

  const { survey, servers } = await look(lab);

  assert.equal(servers.length, 1, JSON.stringify(servers));
  assertServes(servers[0], holder);
  assert.ok(kindsOf(servers[0]).includes('configuration'), evidenceOf(servers[0]));
  assert.deepEqual(servers[0].configured_as.toSorted(), ['claude-code: docs', 'codex: documents']);
  assert.equal(servers[0].version, installedVersion(FILESYSTEM));
  const files = survey.configured.servers.map(({ client, name }) => `${client}: ${name}`);
  assert.deepEqual(files.toSorted(), ['claude-code: docs', 'claude-code: other', 'codex: documents']);
  await holder.kill('SIGKILL');
});

labTest('servers below corral are kept, and end with their client', {}, async (lab) => {
  const commands = [lingering(lab), viaNode('memory')].map((command) => underCorral(command));
  const holder = await Holder.connected(lab, 'v2', commands);

  const { servers, findings } = await look(lab);

  assert.deepEqual(servers.map(({ state }) => state), ['kept', 'kept'], servers.map(evidenceOf).join('\n'));
  for (const server of servers) {
    assert.equal(server.certainty, 'confirmed');
    assert.equal(server.client.pid, holder.pid, evidenceOf(server));
    assert.equal(server.client.id, holder.id);
    assert.ok(kindsOf(server).includes('tag'), evidenceOf(server));
  }
  assert.deepEqual(findings, []);
  await holder.kill('SIGKILL');
});
