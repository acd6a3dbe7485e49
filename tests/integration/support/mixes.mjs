// Every kind of client with every kind of server. One test is one feature, used in all mixes at once, and what
// was seen in each is compared with one expectation.
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { daemonTest, entry, fixture, fixtureServer } from './daemon.mjs';
import { talker } from './features.mjs';
import { Session } from './sdk.mjs';

const COMMANDS = {
  legacy: fixtureServer('--legacy'),
  modern: fixtureServer('--modern'),
  dual: fixture('dual_server.mjs'),
};

// The two C++ servers start at once, so each of them meets every kind of client.
export const MIXES = [
  ...['legacy', 'modern'].flatMap((server) =>
    ['v1', 'v2', 'v2 modern', 'v2 auto'].map((sdk) => ({ server, sdk })),
  ),
  ...['v1', 'v2 modern'].map((sdk) => ({ server: 'dual', sdk })),
];
export const FIXTURE_MIXES = MIXES.filter(({ server }) => server !== 'dual');

const nameOf = ({ server, sdk }) => `${sdk.replace(' ', '-')}-to-${server}`;

// An entry of its own for each mix: they must not share an instance, or they would hear each other.
function serversOf(mixes) {
  return Object.fromEntries(mixes.map((mix) => [nameOf(mix), entry(COMMANDS[mix.server])]));
}

// `expected` is one value, or a function of the mix. `options` replace what a talkative client would have.
export function mixTest(name, { mixes = MIXES, options: changed = {}, ...rest }, feature, expected) {
  daemonTest(name, { servers: serversOf(mixes), ...rest }, async (daemon, lab) => {
    const seen = {};
    await Promise.all(
      mixes.map(async (mix) => {
        const { heard, options } = talker();
        const command = daemon.connect(nameOf(mix));
        try {
          const session = await Session.open(lab, command, { sdk: mix.sdk, ...options, ...changed });
          seen[nameOf(mix)] = await feature(session, heard, mix);
          await session.close();
        } catch (error) {
          seen[nameOf(mix)] = `failed: ${error.message}`;
        }
      }),
    );

    // Only what went wrong: ten mixes are too long to read.
    const wanted = (mix) => (typeof expected === 'function' ? expected(mix) : expected);
    const wrong = mixes.filter((mix) => !isDeepStrictEqual(seen[nameOf(mix)], wanted(mix)));
    const named = (value) => Object.fromEntries(wrong.map((mix) => [nameOf(mix), value(mix)]));
    assert.deepEqual(
      named((mix) => seen[nameOf(mix)]),
      named(wanted),
    );
  });
}
