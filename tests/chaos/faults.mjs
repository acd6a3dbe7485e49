// What goes wrong. A fault finds its victim among this run's own processes, and returns what it did, or
// nothing if there was nobody to do it to.
import { setTimeout as sleep } from 'node:timers/promises';
import { killOne } from '../integration/support/processes.mjs';

// ---- victims

function aClient({ crew, random, daemon }) {
  const client = random.pick([...crew.running].filter(({ killed }) => !killed));
  const found = client && daemon.find(client.pid, ({ comm }) => comm === 'chaos-client');
  return found && { client, found };
}

async function aShim({ crew, random, daemon }) {
  const status = await daemon.status();
  const session = random.pick(status?.sessions ?? []);
  const client = session && [...crew.running].find(({ pid }) => pid === session.client.pid);
  const found = client && daemon.find(session.shim, ({ ppid }) => ppid === client.pid);
  return found && { client, found };
}

async function anInstance({ random, daemon }) {
  const status = await daemon.status();
  const instance = random.pick((status?.instances ?? []).filter(({ state }) => state !== 'ended'));
  const keeper = instance && daemon.find(instance.keeper, ({ ppid }) => ppid === daemon.pid);
  const server = keeper && daemon.find(instance.pid, ({ ppid }) => ppid === keeper.pid);
  return keeper && { name: instance.server, keeper, server };
}

const theDaemon = ({ daemon }) => daemon.find(daemon.pid, ({ ppid }) => ppid === daemon.janitor);
const theJanitor = ({ daemon }) => daemon.find(daemon.janitor, ({ ppid }) => ppid === process.pid);

// ---- what is done to them

// Stopped for a moment. `round.stopped` lets the quiet moments wait until everybody goes on.
function pause(round, found, who) {
  if (!found) return '';
  killOne(found, 'SIGSTOP');
  const ms = round.random.between(20, 700);
  const goesOn = sleep(ms).then(() => killOne(found, 'SIGCONT'));
  round.stopped.add(goesOn);
  goesOn.finally(() => round.stopped.delete(goesOn));
  return `${who} ${found.pid} stopped for ${ms} ms`;
}

function kill(found, who, signal = 'SIGKILL') {
  if (!found) return '';
  killOne(found, signal);
  return `${signal} to ${who} ${found.pid}`;
}

function killClient(round) {
  const victim = aClient(round);
  if (!victim) return '';
  victim.client.killed = true;
  return kill(victim.found, `client ${victim.client.name}`);
}

async function endShim(round, signal) {
  const victim = await aShim(round);
  if (!victim) return '';
  victim.client.excuse ||= `its shim got ${signal}`;
  return kill(victim.found, `the shim of ${victim.client.name}`, signal);
}

async function killOfInstance(round, ...whom) {
  const instance = await anInstance(round);
  if (!instance) return '';
  return whom.map((who) => kill(instance[who], `the ${who} of ${instance.name}`)).join(', ');
}

async function pauseOfInstance(round, who) {
  const instance = await anInstance(round);
  return instance ? pause(round, instance[who], `the ${who} of ${instance.name}`) : '';
}

// ---- the configuration

function reload({ random, daemon, crew }) {
  const touched = random.pick(['shared', 'private', 'root', 'slow', 'flaps', 'extra']);
  if (touched === 'extra') {
    // It comes and goes, and its clients with it.
    daemon.extra = !daemon.extra;
    crew.excuse(({ server }) => server === 'extra', 'its server was removed');
  }
  daemon.write(touched);
  return kill(theDaemon({ daemon }), `the daemon, which reads a new ${touched}`, 'SIGHUP');
}

function breakConfig({ daemon }) {
  daemon.replaceConfig('{"mcpServers": {"shared": ');
  return kill(theDaemon({ daemon }), 'the daemon, which reads half a file', 'SIGHUP');
}

// More private servers at once than there may be instances.
function crowd({ crew }) {
  for (let i = 0; i < 6; ++i) crew.work('private');
  return 'a crowd of 6 clients of private';
}

// ---- session objects

async function createSession({ daemon, crew, random, record }) {
  const servers = random.pick([['shared'], ['private', 'shared'], ['root', 'private']]);
  const environment = Object.entries(daemon.env).map(([name, value]) => `${name}=${value}`);
  const reply = await daemon.say('session-create', { servers, cwd: daemon.roots()[0], environment });
  if (reply?.reply === 'refused') record.fail(`session create: ${reply.text}`);
  if (reply?.reply !== 'result') return '';
  crew.sessions.add({ id: reply.result.id, servers });
  return `session ${reply.result.id} with ${servers.join(', ')}`;
}

export async function endSession({ daemon, crew, record }, session) {
  crew.sessions.delete(session);
  session.ended = true;
  crew.excuse((client) => client.session === session, 'its session was ended');
  const reply = await daemon.say('session-end', { session: session.id }, 25_000);
  if (reply === null || !daemon.runs) return;
  if (reply.reply === 'none') return record.fail(`session end ${session.id} was never answered`);
  const { survivors = ['?'], ended = [] } = reply.result ?? {};
  // The proof died with the keeper; that the tree went all the same is seen at the next quiet moment.
  const unproved = ended.filter(({ proved, end }) => !proved && !end.startsWith('lost its keeper'));
  if (survivors.length + unproved.length > 0) {
    record.fail(`session end ${session.id}: ${JSON.stringify(reply)}`);
  }
}

// It is one fault, and answers long after the next one has begun.
async function endAnySession(round) {
  const session = round.random.pick([...round.crew.sessions]);
  if (!session) return createSession(round);
  const over = endSession(round, session);
  round.stopped.add(over);
  over.finally(() => round.stopped.delete(over));
  return `end of session ${session.id}`;
}

async function restartServer({ daemon, random, record }) {
  const server = random.pick(['shared', 'private', 'root', 'slow']);
  const reply = await daemon.say('restart', { server }, 3_000);
  if (reply?.reply === 'refused') record.fail(`restart: ${reply.text}`);
  return reply?.reply === 'result' ? `restart of ${server}` : '';
}

export const FAULTS = [
  { weight: 4, act: killClient },
  { weight: 2, act: (round) => pause(round, aClient(round)?.found, 'a client') },
  { weight: 4, act: (round) => endShim(round, 'SIGKILL') },
  { weight: 1, act: (round) => endShim(round, 'SIGTERM') },
  { weight: 2, act: async (round) => pause(round, (await aShim(round))?.found, 'a shim') },
  { weight: 5, act: (round) => killOfInstance(round, 'server') },
  { weight: 3, act: (round) => pauseOfInstance(round, 'server') },
  { weight: 3, act: (round) => killOfInstance(round, 'keeper') },
  { weight: 2, act: (round) => pauseOfInstance(round, 'keeper') },
  { weight: 1, act: (round) => killOfInstance(round, 'server', 'keeper') },
  { weight: 1, act: (round) => pause(round, theDaemon(round), 'the daemon') },
  { weight: 1, act: (round) => pause(round, theJanitor(round), 'the janitor') },
  { weight: 4, act: reload },
  { weight: 1, act: breakConfig },
  { weight: 2, act: crowd },
  { weight: 4, act: endAnySession },
  { weight: 1, act: restartServer },
];

// What a round ends with. Everything must go, no matter which process is left to end it.
export const LAST_FAULTS = [
  { weight: 3, act: (round) => kill(theDaemon(round), 'the daemon') },
  { weight: 2, act: (round) => kill(theJanitor(round), 'the janitor') },
  { weight: 1, act: (round) => kill(theDaemon(round), 'the daemon', 'SIGTERM') },
  { weight: 1, act: (round) => kill(theJanitor(round), 'the janitor', 'SIGTERM') },
  {
    weight: 1,
    act: (round) => {
      const janitor = theJanitor(round);
      const daemon = theDaemon(round);
      if (janitor) killOne(janitor, 'SIGSTOP'); // so that it cannot act on the other's death
      return [kill(daemon, 'the daemon'), kill(janitor, 'the janitor')].join(', ');
    },
  },
  {
    weight: 2,
    act: async (round) => {
      const instance = await anInstance(round);
      const daemon = theDaemon(round);
      if (daemon) killOne(daemon, 'SIGSTOP');
      return [kill(instance?.keeper, 'a keeper'), kill(daemon, 'the daemon')].filter(Boolean).join(', ');
    },
  },
  { weight: 1, act: async ({ daemon }) => ((await daemon.shutDown()) ? 'corral shutdown' : '') },
];
