// Every way to take the last miner: by role, end of role, ban, registration and script, in one block and in
// several, and what the network could do before feature 1002.
import t from 'tap';
import type { Role } from '../../../src/ledger/roles.ts';
import { feature } from '../../../src/tx/rules/features.ts';
import { setScript } from '../../../src/tx/types/013-set-script.ts';
import { permit } from '../../../src/tx/types/102-permit.ts';
import { registerNode } from '../../../src/tx/types/111-register-node.ts';
import { compiled } from '../../generators/scripts.ts';
import {
  type Actor,
  actor,
  createHarness,
  defaultRules,
  type Harness,
  WEST,
} from './ledger-harness.ts';

const [one, two, three, boss] = [actor(1), actor(2), actor(3), actor(4)] as const;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** `boss` gives roles and lets nodes in; the others are registered and have the roles that are named. */
async function network(roles: readonly (readonly Role[])[], from = 0): Promise<Harness> {
  const features = new Map([...defaultRules.preActivatedFeatures, [feature.liveness, from]]);
  return createHarness({
    balances: [one, two, three, boss].map((of) => [of, 1000n * WEST] as const),
    participants: [
      [boss, ['permissioner', 'connection_manager', 'blacklister']],
      ...[one, two, three].map((of, i) => [of, roles[i] ?? []] as const),
    ],
    rules: { preActivatedFeatures: features },
  });
}

interface Terms {
  readonly dueTimestamp?: number;
  readonly timestamp?: number;
}
const role = (h: Harness, opType: string, name: Role, of: Actor, rest: Terms = {}) =>
  h.make(permit, boss, { opType, role: name, target: of.to, ...rest });
let made = 0;
/** No two of them are the same transaction. */
const node = (h: Harness, opType: string, of: Actor) =>
  h.make(registerNode, boss, { opType, targetPubKey: of.publicKey, nodeName: `node ${++made}` });
const script = (h: Harness, of: Actor) =>
  h.make(setScript, of, { script: compiled('true'), name: 'a script', description: '' });
const last = (of: Actor): string =>
  `Trying to revoke role 'miner' from it's last owner: '${of.text}'`;

t.test('the registration of the last miner stays', async (t) => {
  const h = await network([['miner'], []]);
  t.equal(h.refusal(node(h, 'remove', one)), last(one));
  h.apply(role(h, 'add', 'miner', two));
  h.apply(node(h, 'remove', one));
  t.equal(h.refusal(node(h, 'remove', two)), last(two), 'in the same block');
  await h.mine();
  t.equal(h.refusal(node(h, 'remove', two)), last(two), 'and in the next');
});

t.test('before the feature any registration but the last went', async () => {
  const h = await network([['miner']], Infinity);
  for (const member of [one, two, three]) h.apply(node(h, 'remove', member));
});

t.test('from its height on', async (t) => {
  const h = await network([['miner'], ['miner']], 4);
  h.apply(node(h, 'remove', two));
  await h.mine();
  t.equal(h.block.height, 3);
  h.apply(node(h, 'remove', one));
  h.apply(node(h, 'add', one));
  await h.mine();
  t.equal(h.refusal(node(h, 'remove', one)), last(one));
});

/** What makes the second miner one that cannot be relied on, in a network of two. */
const unreliable: Readonly<Record<string, (h: Harness) => void>> = {
  'is not registered': (h) => {
    h.apply(node(h, 'remove', two));
  },
  'has an end': (h) => {
    h.apply(role(h, 'add', 'miner', two, { dueTimestamp: h.now + HOUR }));
  },
  'is banned': (h) => {
    h.apply(role(h, 'add', 'banned', two));
  },
  'is banned for a while': (h) => {
    h.apply(role(h, 'add', 'banned', two, { dueTimestamp: h.now + MINUTE }));
  },
  'will be banned for a while': (h) => {
    h.apply(role(h, 'add', 'banned', two, { timestamp: h.now + MINUTE }));
    h.apply(role(h, 'remove', 'banned', two, { timestamp: h.now + 2 * MINUTE }));
  },
  'loses its role later': (h) => {
    h.apply(role(h, 'remove', 'miner', two, { timestamp: h.now + HOUR }));
  },
  'begins later': (h) => {
    h.apply(role(h, 'remove', 'miner', two));
    h.apply(role(h, 'add', 'miner', two, { timestamp: h.now + HOUR }));
  },
};

for (const [what, make] of Object.entries(unreliable)) {
  t.test(`the other miner ${what}`, async (t) => {
    for (const blocks of [0, 1]) {
      const h = await network([['miner'], ['miner']]);
      make(h);
      if (blocks === 1) await h.mine();
      const at = { timestamp: h.now + 1 };
      for (const tx of [
        role(h, 'remove', 'miner', one, at),
        role(h, 'remove', 'miner', one, { timestamp: h.now + HOUR }),
        role(h, 'add', 'miner', one, { ...at, dueTimestamp: h.now + HOUR }),
        role(h, 'add', 'banned', one, at),
        role(h, 'add', 'banned', one, { ...at, dueTimestamp: h.now + MINUTE }),
        role(h, 'add', 'banned', one, { timestamp: h.now + HOUR }),
        node(h, 'remove', one),
      ]) {
        t.equal(h.refusal(tx), last(one), `${tx.def.name} after ${blocks} blocks`);
      }
    }
  });
}

t.test('a script and a role that begins tomorrow', async (t) => {
  const h = await network([['miner']]);
  h.apply(role(h, 'add', 'miner', two, { timestamp: h.now + HOUR }));
  t.match(h.refusal(script(h, two)), /^Script cannot be assigned to an account with a role/);
  await h.mine();
  t.match(h.refusal(script(h, two)), /^Script cannot be assigned to an account with a role/);
  h.apply(script(h, three));
  t.match(h.refusal(role(h, 'add', 'miner', three)), /is scripted, so only/, 'nor the other way');
});

t.test('where that was possible before the feature, it is no miner', async (t) => {
  const h = await network([['miner']], 4);
  h.apply(role(h, 'add', 'miner', two, { timestamp: h.now + MINUTE }));
  h.apply(script(h, two));
  await h.mine();
  h.now += HOUR;
  await h.mine();
  t.equal(h.block.height, 4);
  t.equal(h.refusal(node(h, 'remove', one)), last(one));
  t.equal(h.refusal(role(h, 'remove', 'miner', one)), last(one));
});

t.test('another miner that can be relied on is enough', async () => {
  const all: readonly Role[] = ['miner'];
  const losses = [
    (h: Harness) => role(h, 'remove', 'miner', one),
    (h: Harness) => role(h, 'add', 'banned', one),
    (h: Harness) => node(h, 'remove', one),
  ];
  for (const loss of losses) {
    const h = await network([all, all, all]);
    h.apply(node(h, 'remove', two));
    h.apply(loss(h));
  }
});

t.test('others than the last go as before', async () => {
  const h = await network([['miner'], ['miner'], ['issuer']]);
  h.apply(role(h, 'add', 'banned', two));
  h.apply(role(h, 'remove', 'miner', two));
  h.apply(node(h, 'remove', two));
  h.apply(node(h, 'remove', three));
});

t.test(
  'a network whose nodes are registered under other accounts can change its miners',
  async (t) => {
    const h = await network([['miner'], ['miner']]);
    h.apply(node(h, 'remove', two));
    t.equal(h.refusal(node(h, 'remove', one)), last(one));
    const other = await network([['miner'], ['miner']], 3);
    other.apply(node(other, 'remove', one));
    other.apply(node(other, 'remove', two));
    await other.mine();
    other.apply(role(other, 'remove', 'miner', one));
    t.equal(other.refusal(role(other, 'remove', 'miner', two)), last(two), 'one keeps the role');
  },
);
