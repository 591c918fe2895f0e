/** Random transactions, good and bad: whatever users might send. */

import { buildTx, signedBytes } from '../../src/tx/bytes.ts';
import type { Tx, TxType } from '../../src/tx/transaction.ts';
import { issue } from '../../src/tx/types/003-issue.ts';
import { transfer } from '../../src/tx/types/004-transfer.ts';
import { reissue } from '../../src/tx/types/005-reissue.ts';
import { burn } from '../../src/tx/types/006-burn.ts';
import { lease } from '../../src/tx/types/008-lease.ts';
import { leaseCancel } from '../../src/tx/types/009-lease-cancel.ts';
import { createAlias } from '../../src/tx/types/010-create-alias.ts';
import { massTransfer } from '../../src/tx/types/011-mass-transfer.ts';
import { data } from '../../src/tx/types/012-data.ts';
import { permit } from '../../src/tx/types/102-permit.ts';
import { createPolicy } from '../../src/tx/types/112-create-policy.ts';
import type { Dice } from './random.ts';
import { type Account, chain, owners, users, WEST } from './settings.ts';

const REMEMBERED = 40;

export interface Workload {
  /** A signed transaction; about one in five breaks a rule. */
  next(now: number): Tx;
}

export function createWorkload(dice: Dice, nodes: number): Workload {
  const assets: Uint8Array[] = [];
  const leases: Uint8Array[] = [];
  const managers = owners.slice(0, nodes);
  let serial = 0;

  const keep = (list: Uint8Array[], id: Uint8Array): void => {
    list.push(id);
    if (list.length > REMEMBERED) list.shift();
  };
  const some = (list: readonly Uint8Array[]): Uint8Array =>
    list.length === 0 ? dice.bytes(32) : dice.pick(list);
  const to = ({ address }: Account) => ({ kind: 'address', bytes: address }) as const;
  const anybody = () =>
    dice.happens(0.1)
      ? ({ kind: 'alias', name: `user-${dice.below(users.length)}` } as const)
      : to(dice.pick(users));
  /** Mostly little, sometimes all there is or more. */
  const amount = (): bigint =>
    dice.happens(0.05) ? 900_000n * WEST : BigInt(1 + dice.below(1_000_000));

  function make(def: unknown, from: Account, now: number, input: object): Tx {
    const type = def as TxType;
    const layout = type.layouts.findLast(({ feature }) => feature === undefined || feature <= 101);
    if (layout === undefined) throw new Error(`a layout of ${type.name}`);
    const values = {
      chainId: chain.chainId,
      attachment: new Uint8Array(0),
      senderPublicKey: from.publicKey,
      fee: type.fee,
      timestamp: now,
      ...input,
    } as unknown as Parameters<typeof buildTx>[2];
    const draft = buildTx(type, layout, values, [new Uint8Array(64)], chain);
    const signature = from.sign(signedBytes(draft));
    if (dice.happens(0.02)) signature[dice.below(64)]! ^= 1;
    return buildTx(type, layout, values, [signature], chain) as unknown as Tx;
  }

  const kinds: readonly ((from: Account, now: number) => Tx)[] = [
    (from, now) => make(transfer, from, now, { recipient: anybody(), amount: amount() }),
    (from, now) => make(transfer, from, now, { recipient: anybody(), amount: amount() }),
    (from, now) =>
      make(transfer, from, now, { recipient: anybody(), amount: amount(), assetId: some(assets) }),
    (from, now) => {
      const gold = { name: 'Gold', description: '', quantity: amount(), decimals: 0 };
      const tx = make(issue, from, now, { ...gold, reissuable: dice.happens(0.5) });
      keep(assets, tx.id);
      return tx;
    },
    (from, now) =>
      make(reissue, from, now, {
        assetId: some(assets),
        quantity: amount(),
        reissuable: dice.happens(0.8),
      }),
    (from, now) => make(burn, from, now, { assetId: some(assets), amount: amount() }),
    (from, now) => {
      const tx = make(lease, from, now, { recipient: anybody(), amount: amount() });
      keep(leases, tx.id);
      return tx;
    },
    (from, now) => make(leaseCancel, from, now, { leaseId: some(leases) }),
    (from, now) => make(createAlias, from, now, { alias: `user-${dice.below(users.length)}` }),
    (from, now) => {
      const transfers = users
        .slice(0, 5)
        .map((user) => ({ recipient: to(user), amount: amount() }));
      return make(massTransfer, from, now, { transfers, fee: WEST });
    },
    (from, now) => {
      const entry = { key: `k${dice.below(20)}`, type: 'integer', value: amount() };
      return make(data, from, now, {
        authorPublicKey: from.publicKey,
        data: [entry],
        fee: WEST,
      });
    },
    (_from, now) =>
      make(permit, dice.pick(managers), now, {
        target: to(dice.pick(users)),
        opType: dice.happens(0.6) ? 'add' : 'remove',
        role: dice.pick(['issuer', 'permissioner', 'banned']),
      }),
    (from, now) =>
      make(createPolicy, from, now, {
        policyName: `policy ${serial}`,
        description: '',
        recipients: [from.address],
        owners: [from.address],
      }),
  ];

  return {
    next(now) {
      serial++;
      // No two alike: some transactions have no content but their time.
      return dice.pick(kinds)(dice.pick(users), now - dice.below(500));
    },
  };
}
