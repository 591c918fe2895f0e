// The rolls of participants and of holders of vital roles: their numbers, their bounds, and what they cost.
import t from 'tap';
import type { LedgerView } from '../../../src/ledger/ledger.ts';
import { minerQueue } from '../../../src/ledger/miner-queue.ts';
import {
  addParticipant,
  PARTICIPANTS_MAX,
  participantOf,
  rollOf,
} from '../../../src/ledger/participants.ts';
import { recordRoleOp } from '../../../src/ledger/permissions.ts';
import { noteHolder, VITAL_HOLDERS_MAX } from '../../../src/ledger/role-holders.ts';
import { MINER } from '../../../src/ledger/roles.ts';
import { rollSizes, vitalHolders } from '../../../src/ledger/tables.ts';
import { feature } from '../../../src/tx/rules/features.ts';
import { permit } from '../../../src/tx/types/102-permit.ts';
import { registerNode } from '../../../src/tx/types/111-register-node.ts';
import {
  type Actor,
  actor,
  createHarness,
  defaultRules,
  type Harness,
  WEST,
} from './ledger-harness.ts';

const [boss, second, third] = [actor(1), actor(2), actor(3)] as const;
const MINUTE = 60_000;

async function network(from: number | undefined): Promise<Harness> {
  const features = new Map(defaultRules.preActivatedFeatures);
  if (from !== undefined) features.set(feature.liveness, from);
  return createHarness({
    balances: [[boss, 100_000n * WEST]],
    participants: [[boss, ['miner', 'permissioner', 'connection_manager']]],
    rules: { preActivatedFeatures: features },
  });
}

let made = 0;
/** No two of them are the same transaction. */
const node = (h: Harness, opType: string, of: Actor) =>
  h.make(registerNode, boss, { opType, targetPubKey: of.publicKey, nodeName: `node ${++made}` });
const miner = (h: Harness, opType: string, of: Actor, rest: object = {}) =>
  h.make(permit, boss, { opType, role: 'miner', target: of.to, ...rest });
const orderOf = (h: Harness, of: Actor) => participantOf(h.draft, of.address)?.order;
/** Many accounts, none of them one of the actors. */
const others = (count: number): Uint8Array[] =>
  Array.from({ length: count }, (_, i) => {
    const key = new Uint8Array(boss.publicKey.length).fill(99);
    new DataView(key.buffer).setUint32(0, i + 1);
    return key;
  });

/** The rows that reading takes; a row asked for by its key counts, too. */
function counting(view: LedgerView): { readonly view: LedgerView; readonly rows: () => number } {
  let rows = 0;
  const counted = Object.create(view) as { -readonly [K in keyof LedgerView]: LedgerView[K] };
  counted.get = (table, key) => {
    rows += 1;
    return view.get(table, key);
  };
  counted.range = function* (...args) {
    for (const row of view.range(...args)) {
      rows += 1;
      yield row;
    }
  };
  return { view: counted, rows: () => rows };
}

t.test('order numbers: old networks go on as they did', async (t) => {
  const h = await network(undefined);
  h.apply(node(h, 'add', second));
  h.apply(node(h, 'add', third));
  t.equal(orderOf(h, third), 2);
  h.apply(node(h, 'remove', third));
  h.apply(node(h, 'add', third));
  t.equal(orderOf(h, third), 2, 'the highest is given again');
  t.equal(h.draft.get(rollSizes, 0), undefined, 'and no row is written, so state hashes are equal');
  await h.mine();
});

t.test('with the feature they are kept, and a rollback restores them', async (t) => {
  const h = await network(3);
  h.apply(node(h, 'add', second));
  await h.mine();
  t.equal(h.draft.get(rollSizes, 0), undefined);
  t.same(rollOf(h.draft), { size: 2, next: 2 }, 'read where there is no row');
  h.apply(node(h, 'add', third));
  t.equal(orderOf(h, third), 2);
  h.apply(node(h, 'remove', third));
  await h.mine();
  t.equal(h.draft.get(rollSizes, 0), 2);
  h.apply(node(h, 'add', third));
  t.equal(orderOf(h, third), 3, 'no number twice');
  await h.mine();
  await h.rollback(1);
  t.same(rollOf(h.head), { size: 2, next: 3 });
  await h.rollback(1);
  t.equal(h.head.get(rollSizes, 0), undefined, 'as before the feature');
  h.apply(node(h, 'add', third));
  t.equal(orderOf(h, third), 2);
});

t.test('a registration reads a few rows, however many there are', async (t) => {
  const h = await network(0);
  for (const publicKey of others(3000)) {
    addParticipant(h.draft, { publicKey, nodeName: '', height: 1 }, rollOf(h.draft));
  }
  const { view, rows } = counting(h.draft);
  t.equal(rollOf(view).size, 3001);
  t.ok(rows() < 10, `${rows()} rows`);
});

t.test('no more participants than the bound', async (t) => {
  const h = await network(0);
  for (const publicKey of others(PARTICIPANTS_MAX - 2)) {
    addParticipant(h.draft, { publicKey, nodeName: '', height: 1 }, rollOf(h.draft));
  }
  h.apply(node(h, 'add', second));
  const text = 'No more than 10000 nodes can be registered';
  t.equal(h.refusal(node(h, 'add', third)), text);
  await h.mine();
  t.equal(h.refusal(node(h, 'add', third)), text);
  h.apply(node(h, 'remove', second));
  h.apply(node(h, 'add', third));
  const old = await network(undefined);
  for (const publicKey of others(PARTICIPANTS_MAX)) {
    addParticipant(old.draft, { publicKey, nodeName: '', height: 1 }, { size: 0, next: 0 });
  }
  old.apply(node(old, 'add', third));
});

/** Accounts that have the role, recorded as the rules record it. */
function fill(h: Harness, count: number, due: (i: number) => number | undefined): void {
  const { timestamp } = h.block;
  for (const [i, key] of others(count).entries()) {
    const address = h.draft.scheme.addressOf(key);
    recordRoleOp(h.draft, address, { role: MINER, timestamp: 1 + i, add: true, due: due(i) });
    noteHolder(h.draft, address, MINER, timestamp);
  }
}

t.test('no more miners than the bound, and those whose role has ended make room', async (t) => {
  const h = await network(0);
  const due = h.now + MINUTE;
  fill(h, VITAL_HOLDERS_MAX - 2, (i) => (i === 7 ? due : undefined));
  h.apply(miner(h, 'add', second));
  t.equal(
    h.refusal(miner(h, 'add', third)),
    `No more than ${VITAL_HOLDERS_MAX} accounts can hold the role 'miner'`,
  );
  h.apply(miner(h, 'add', second, { timestamp: h.now + 1, dueTimestamp: h.now + 90 * MINUTE }));
  await h.mine();
  h.now = due;
  await h.mine();
  h.apply(miner(h, 'add', third));
  t.equal(h.draft.get(rollSizes, MINER), VITAL_HOLDERS_MAX);
  await h.mine();
  t.match(h.refusal(miner(h, 'add', actor(50))), /^No more than/);
  h.apply(miner(h, 'remove', third));
  h.apply(miner(h, 'add', actor(50)));
});

t.test('those that had the role cost nothing', async (t) => {
  const h = await network(3);
  const key = (i: number) => h.draft.scheme.addressOf(others(2000)[i]!);
  const former = others(2000).map((one) => h.draft.scheme.addressOf(one));
  for (const [i, address] of former.entries()) {
    recordRoleOp(h.draft, address, { role: MINER, timestamp: 2 * i, add: true, due: undefined });
    const end = { role: MINER, timestamp: 2 * i + 1, add: false, due: undefined };
    recordRoleOp(h.draft, address, end);
  }
  await h.mine();
  const before = minerQueue(h.head, h.now);
  h.apply(miner(h, 'add', second));
  t.equal(h.draft.get(rollSizes, MINER), 2);
  t.equal(h.draft.get(vitalHolders, [MINER, key(5)]), undefined);
  const { view, rows } = counting(h.draft);
  t.same(minerQueue(view, h.now).members, [...before.members, second.address]);
  t.ok(rows() < 20, `${rows()} rows`);
  await h.mine();
  h.apply(miner(h, 'remove', second));
  await h.mine();
  t.same(minerQueue(h.head, h.now), before);
});
