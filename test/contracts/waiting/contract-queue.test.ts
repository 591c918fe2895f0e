import t from 'tap';
import { latin1 } from '../../../src/base/bytes.ts';
import {
  ContractQueue,
  concernsContract,
  contractKeyOf,
} from '../../../src/contracts/waiting/contract-queue.ts';
import { PoolEntry, textsOf } from '../../../src/mempool/entries/entry.ts';
import { NOTHING_SPENT } from '../../../src/mempool/entries/spending.ts';
import { unchecked } from '../../../src/tx/proof-verdicts.ts';
import type { Tx, TxType } from '../../../src/tx/transaction.ts';
import { buildTx } from '../../../src/tx/tx-bytes.ts';
import { transfer } from '../../../src/tx/types/004-transfer.ts';
import { createContract } from '../../../src/tx/types/103-create-contract.ts';
import { callContract } from '../../../src/tx/types/104-call-contract.ts';
import { disableContract } from '../../../src/tx/types/106-disable-contract.ts';
import { updateContract } from '../../../src/tx/types/107-update-contract.ts';
import { scheme, users } from '../../chain/chain-harness.ts';

const contractId = new Uint8Array(32).fill(7);
const defs = [createContract, callContract, disableContract, updateContract];

function make(def: TxType<never>, version: number, timestamp = 1): Tx {
  const layout = def.layouts.find((one) => one.version === version)!;
  const values = {
    senderPublicKey: users[0]!.publicKey,
    contractId,
    image: 'image',
    imageHash: 'ab'.repeat(32),
    contractName: 'name',
    params: [],
    payments: [],
    fee: 1n,
    timestamp,
    contractVersion: 1,
    apiVersion: { major: 1, minor: 0 },
    validationPolicy: { kind: 'any' },
  };
  const input = Object.fromEntries(
    layout.fields.filter((name) => name in values).map((name) => [name, values[name as 'fee']]),
  );
  return buildTx(def, layout, input as never, [new Uint8Array(64)], scheme) as unknown as Tx;
}

const entry = (tx: Tx) => new PoolEntry(tx, textsOf(tx), unchecked(tx), NOTHING_SPENT, false);

t.test('the contract is read from the bytes of every layout', async (t) => {
  for (const def of defs as unknown as TxType<never>[]) {
    for (const { version, fields } of def.layouts) {
      // What comes behind does not move the contract.
      if (fields.includes('validationPolicy') || fields.includes('payments')) continue;
      const one = entry(make(def, version));
      const expected = def.type === 103 ? one.key : latin1(contractId);
      t.equal(contractKeyOf(one, scheme.publicKeySize), expected, `${def.name} ${version}`);
      t.equal(concernsContract(one), true);
    }
    for (const { fields } of def.layouts) {
      if (def.type !== 103) t.same(fields.slice(0, 2), ['senderPublicKey', 'contractId']);
    }
  }
  t.not(transfer.executable, true);
});

t.test('an older newcomer comes after what is executed', async (t) => {
  const queue = new ContractQueue('contract');
  const call = callContract as unknown as TxType<never>;
  const running = entry(make(call, 1, 10));
  queue.add(running);
  queue.state = 'busy';
  const older = entry(make(call, 1, 5));
  queue.add(older);
  t.equal(queue.next(), running);
  queue.skip();
  t.equal(queue.next(), older);
});

t.test(
  'a line is in pool order, whenever its entries come, without those that have left',
  async (t) => {
    const queue = new ContractQueue('contract');
    const call = callContract as unknown as TxType<never>;
    const entries = [3, 1, 4, 2, 5].map((timestamp) => entry(make(call, 1, timestamp)));
    for (const one of entries) queue.add(one);
    entries[3]!.removed = true;
    const order: number[] = [];
    for (let next = queue.next(); next !== undefined; next = queue.next()) {
      order.push(next.timestamp);
      queue.skip();
      if (next.timestamp === 3) queue.add(entry(make(call, 1, 1)));
    }
    t.same(order, [1, 3, 1, 4, 5]);
  },
);

t.test('calls of who has failed give way to those of others, and keep their order', async (t) => {
  const failing = new Set<number>();
  const queue = new ContractQueue(
    'contract',
    'owner',
    () => undefined,
    ({ timestamp }) => failing.has(timestamp),
  );
  const call = callContract as unknown as TxType<never>;
  const add = (timestamp: number): void => queue.add(entry(make(call, 1, timestamp)));
  const end = entry(make(disableContract as unknown as TxType<never>, 2, 5));
  for (const timestamp of [1, 2, 3, 4]) add(timestamp);
  queue.add(end);
  for (const timestamp of [1, 2, 4, 5]) failing.add(timestamp);
  const order: (number | undefined)[] = [];
  const take = (): void => {
    order.push(queue.next()?.timestamp);
    queue.skip();
  };
  take();
  take();
  take();
  add(6);
  for (let i = 0; i < 4; i++) take();
  t.same(order, [3, 5, 1, 6, 2, 4, undefined], 'the end of the contract has its place');
});

t.test('a line that is given up tells all that waits', async (t) => {
  const left: number[] = [];
  const queue = new ContractQueue(
    'contract',
    'owner',
    ({ timestamp }) => void left.push(timestamp),
    ({ timestamp }) => timestamp < 3,
  );
  const call = callContract as unknown as TxType<never>;
  for (const timestamp of [1, 2, 3, 4]) queue.add(entry(make(call, 1, timestamp)));
  t.equal(queue.next()?.timestamp, 3);
  queue.clear();
  t.same(left, [3, 4, 1, 2]);
  t.equal(queue.next(), undefined);
});

t.test('what is in doubt gives way to calls and not to what ends them', async (t) => {
  const [call, end] = [callContract, disableContract] as unknown as TxType<never>[];
  const [first, second, third, last] = [1, 2, 3, 4].map((time) => entry(make(call!, 1, time)));
  const ending = entry(make(end!, 1, 9));
  const doubted = [first, second, ending, third];
  const placeOf = (one: PoolEntry): number => {
    const place = doubted.indexOf(one);
    return place < 0 ? Number.POSITIVE_INFINITY : place;
  };
  const yields = (one: PoolEntry): boolean => one === first || one === third;
  const queue = new ContractQueue('contract', '', () => {}, yields, placeOf);
  for (const one of [first, second, ending, third, last]) queue.add(one!);
  const order: (PoolEntry | undefined)[] = [];
  for (let next = queue.next(); next !== undefined; next = queue.next()) {
    order.push(next);
    queue.skip();
  }
  t.strictSame(
    order.map((one) => [first, second, third, last, ending].indexOf(one)),
    [1, 0, 4, 3, 2],
  );
});
