/**
 * Atomic transactions for a chain of the chain harness: members of all types, by the sender and by
 * others that trust it. Some groups have a member that the state refuses, or share one with an
 * earlier group, and some members are sent without their group.
 */
import { equal, latin1 } from '../../src/base/bytes.ts';
import { asSent } from '../../src/tx/members.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { atomic } from '../../src/tx/types/120-atomic.ts';
import { type Account, miners, signed, users } from '../chain/chain-harness.ts';
import { type Attempt, actions, type Scene, sign } from './actions.ts';

const everybody: readonly Account[] = [...miners, ...users];
/** A transfer is the likeliest, since it is the likeliest to be accepted. */
const PLAIN = [3, 4, 4, 4, 5, 6, 8, 9, 10, 11, 12, 12, 14, 102, 106, 112, 113, 114];
const CONTRACTS = [103, 104, 104, 104, 104, 104, 107];
const CONTRACTS_ONE_IN = 3;
const MEMBERS_MAX = 5;
const SHARED_ONE_IN = 8;
const ALONE_ONE_IN = 12;

/** The members of a group so far, by the key of its sender. */
export type EarlierMembers = Map<string, Tx>;

/** Undefined where the scene has not what it takes. */
export function groupOf(scene: Scene, earlier: EarlierMembers): Attempt | undefined {
  const { rng } = scene;
  const sender = rng.pick(everybody);
  const key = latin1(sender.publicKey);
  const members: Tx[] = [];
  const count = rng.between(2, MEMBERS_MAX);
  for (let tries = 0; members.length < count && tries < 20; tries++) {
    const type = rng.pick(rng.chance(CONTRACTS_ONE_IN) ? CONTRACTS : PLAIN);
    const made = actions[type]?.(scene)?.tx;
    const member = made && withBadge(asSent(made), sender, scene);
    if (member !== undefined) members.push(member);
  }
  const shared = earlier.get(key);
  if (shared !== undefined && rng.chance(SHARED_ONE_IN)) members.push(shared);
  const [first] = members;
  if (first === undefined) return undefined;
  if (rng.chance(ALONE_ONE_IN)) return { tx: first };
  const transactions = members.filter(
    (tx, i) => members.findIndex(({ id }) => equal(id, tx.id)) === i,
  );
  if (transactions.length < 2) return undefined;
  earlier.set(key, rng.pick(transactions));
  return { tx: sign(scene, atomic, sender, 1, { transactions }) };
}

/** The same with a badge; undefined where the type has none, or its sender is unknown. */
function withBadge({ def, senderPublicKey, fields }: Tx, by: Account, { rng }: Scene) {
  const layout = def.layouts.find((one) => one.fields.includes('atomicBadge'));
  const from = everybody.find(({ publicKey }) => equal(publicKey, senderPublicKey));
  if (layout === undefined || from === undefined) return undefined;
  const isOwn = equal(from.publicKey, by.publicKey);
  // An id that is no hash of the body (type 10) is for a group of its sender alone.
  if (def.id !== undefined && !isOwn) return undefined;
  const trustedSender = isOwn && rng.chance(2) ? undefined : by.address;
  const input = { ...fields, atomicBadge: { trustedSender } };
  return signed(def, from, input as never, layout.version);
}
