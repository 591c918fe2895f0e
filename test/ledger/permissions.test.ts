import fc from 'fast-check';
import t from 'tap';
import { compare } from '../../src/base/bytes.ts';
import { inOneGo } from '../../src/concurrency/steps.ts';
import { createCommittedView } from '../../src/ledger/committed-view.ts';
import { minersInSteps } from '../../src/ledger/miner-queue.ts';
import { createOverlay, type KeyedOverlay } from '../../src/ledger/overlay.ts';
import { hasRole, type RoleOp, recordRoleOp, rolesAt } from '../../src/ledger/permissions.ts';
import { isLastOfRole } from '../../src/ledger/role-holders.ts';
import { BANNED, MINER } from '../../src/ledger/roles.ts';
import { createMemoryStore } from '../simulated/memory-store.ts';
import { scheme } from './tables.ts';

const minersAt = (...of: Parameters<typeof minersInSteps>) => inOneGo(minersInSteps(...of));

const addresses = [3, 1, 2].map((byte) => new Uint8Array(26).fill(byte));
const [first, second, third] = addresses as [Uint8Array, Uint8Array, Uint8Array];

const ledger = (): KeyedOverlay => createOverlay(createCommittedView(createMemoryStore(), scheme));
const grant = (timestamp: number, due?: number, role = MINER): RoleOp => ({
  role,
  timestamp,
  add: true,
  due,
});
const revoke = (timestamp: number, role = MINER): RoleOp => ({
  role,
  timestamp,
  add: false,
  due: undefined,
});

t.test('a role holds from its grant up to its due time', async (t) => {
  const view = ledger();
  recordRoleOp(view, first, grant(100, 200));
  recordRoleOp(view, first, grant(300));
  recordRoleOp(view, first, revoke(400));
  const held = [99, 100, 199, 200, 299, 300, 399, 400].map((at) => hasRole(view, first, MINER, at));
  t.same(held, [false, true, true, false, false, true, true, false]);
  t.same(rolesAt(view, first, 150), [grant(100, 200)]);
});

t.test('the queue is ordered by grant and then by address', async (t) => {
  const view = ledger();
  recordRoleOp(view, first, grant(10));
  recordRoleOp(view, second, grant(20));
  recordRoleOp(view, third, grant(20));
  t.same(minersAt(view, 30), [first, second, third]);
  recordRoleOp(view, first, grant(40));
  t.same(minersAt(view, 40), [second, third, first], 'granted anew: to the end');
  t.same(minersAt(view, 30), [first, second, third], 'the past stays');
  t.same(minersAt(view, 9), []);
});

t.test('who counts as a successor', async (t) => {
  const lastWith = (...ops: readonly RoleOp[]): boolean => {
    const view = ledger();
    recordRoleOp(view, first, grant(10));
    for (const op of ops) recordRoleOp(view, second, op);
    return isLastOfRole(view, first, MINER, 100);
  };
  t.equal(lastWith(), true);
  t.equal(lastWith(grant(50)), false);
  t.equal(lastWith(grant(50, 1000)), true, 'one whose role ends');
  t.equal(lastWith(grant(101)), true, 'one whose role has not begun');
  t.equal(lastWith(grant(50), revoke(101)), true, 'one whose removal is recorded');
  t.equal(lastWith(grant(50), grant(60, undefined, BANNED)), true);
  t.equal(lastWith(grant(50), grant(101, undefined, BANNED)), true);
  t.equal(lastWith(grant(50), grant(60, 100, BANNED)), false, 'the ban is over');
});

t.test('operations in any order: the same as looking at all of them', async () => {
  const op = fc.record({
    of: fc.nat(2),
    timestamp: fc.integer({ min: 1, max: 20 }),
    add: fc.boolean(),
    due: fc.option(fc.integer({ min: 1, max: 30 }), { nil: undefined }),
  });
  const ops = fc.uniqueArray(op, {
    selector: ({ of, timestamp }) => `${of} ${timestamp}`,
    maxLength: 15,
  });
  fc.assert(
    fc.property(ops, fc.integer({ min: 0, max: 30 }), (list, time) => {
      const view = ledger();
      for (const { of, ...rest } of list) {
        recordRoleOp(view, addresses[of]!, { role: MINER, ...rest });
      }
      const holders = addresses.flatMap((address, i) => {
        const [latest] = list
          .filter(({ of, timestamp }) => of === i && timestamp <= time)
          .sort((a, b) => b.timestamp - a.timestamp);
        const active = latest?.add === true && (latest.due === undefined || latest.due > time);
        return active ? [{ address, since: latest.timestamp }] : [];
      });
      holders.sort((a, b) => a.since - b.since || compare(a.address, b.address));
      const queue = minersAt(view, time);
      return (
        queue.length === holders.length &&
        queue.every((address, i) => compare(address, holders[i]!.address) === 0)
      );
    }),
  );
});
