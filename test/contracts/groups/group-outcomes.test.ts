/** What the statuses say of the members of an atomic transaction. */
import t from 'tap';
import { refused } from '../../../src/base/errors.ts';
import type { ConcludePorts } from '../../../src/contracts/execution/conclude.ts';
import { GroupOutcomes } from '../../../src/contracts/groups/group-outcomes.ts';
import type { GroupCall } from '../../../src/contracts/waiting/group-calls.ts';
import type { PoolEntry } from '../../../src/mempool/entries/entry.ts';
import type { Tx } from '../../../src/tx/transaction.ts';

const CONTRACT = Uint8Array.of(9);
const key = String.fromCharCode(...CONTRACT);
const TIMED_OUT = {
  kind: 'failure',
  message: 'timed out',
  recoverable: true,
  system: false,
} as const;

function decoded(): Tx {
  const member = (id: number) => ({
    id: Uint8Array.of(id),
    def: { executable: true, contract: () => CONTRACT },
  });
  const members = [member(1), member(2)];
  return { id: Uint8Array.of(0), def: { members: () => members } } as unknown as Tx;
}

t.test('the call that has failed is known in a transaction that was decoded anew', async (t) => {
  const entry = { key: 'group', sender: 'sender', removed: false } as PoolEntry;
  const reports: Parameters<ConcludePorts['report']>[0][] = [];
  const outcomes = new GroupOutcomes({
    pool: {
      drop: () => {
        entry.removed = true;
      },
    },
    breakers: { failed: () => undefined },
    repetitions: { failed: () => false },
    failed: new Set(),
    report: (record: (typeof reports)[number]) => reports.push(record),
  } as unknown as ConcludePorts);
  const image = { image: 'image', imageHash: 'hash' };
  const call = { index: 1, tx: decoded().def.members!(decoded())[1], key, owner: 'owner', image };
  outcomes.failed(entry, decoded(), call as unknown as GroupCall, TIMED_OUT);
  const own = 'The transaction has failed too often: timed out';
  t.match(reports, [
    { txId: Uint8Array.of(0) },
    { txId: Uint8Array.of(1), code: 4 },
    { txId: Uint8Array.of(2), status: 'Failure', message: own },
  ]);
  t.equal(reports[2]?.code, undefined, 'which is a refusal');
});

t.test('results that break a rule are a failure of the call', async (t) => {
  const entry = { key: 'group', sender: 'sender', removed: false } as PoolEntry;
  const failures: unknown[] = [];
  const outcomes = new GroupOutcomes({
    pool: {
      drop: () => {
        entry.removed = true;
      },
    },
    breakers: { failed: (...failure: readonly unknown[]) => failures.push(failure) },
    failed: new Set(),
    report: () => undefined,
  } as unknown as ConcludePorts);
  const call = { index: 1, tx: decoded().def.members!(decoded())[1], key, owner: 'owner' };
  outcomes.badResults(entry, decoded(), call as unknown as GroupCall, refused('two keys'));
  t.strictSame(failures, [[key, { sender: 'sender', outage: undefined }]], 'its sender may rest');
  t.equal(entry.removed, true);
});
