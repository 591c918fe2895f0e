// The queue of miners with and without a roll, and how long it stays as it is.
import fc from 'fast-check';
import t from 'tap';
import { inOneGo } from '../../src/concurrency/steps.ts';
import { createCommittedView } from '../../src/ledger/committed-view.ts';
import { minerQueue, minersInSteps } from '../../src/ledger/miner-queue.ts';
import { createOverlay } from '../../src/ledger/overlay.ts';
import { recordRoleOp } from '../../src/ledger/permissions.ts';
import { noteHolder } from '../../src/ledger/role-holders.ts';
import { MINER } from '../../src/ledger/roles.ts';
import { createMemoryStore } from '../simulated/memory-store.ts';
import { scheme } from './tables.ts';

const ACCOUNTS = 4;
const LAST = 30;
const accounts = Array.from({ length: ACCOUNTS }, (_, i) => new Uint8Array(26).fill(i + 1));

const op = fc.record({
  of: fc.nat(ACCOUNTS - 1),
  timestamp: fc.integer({ min: 0, max: LAST }),
  add: fc.boolean(),
  due: fc.option(fc.integer({ min: 1, max: LAST }), { nil: undefined }),
});
const ops = fc.uniqueArray(op, {
  selector: ({ of, timestamp }) => `${of} ${timestamp}`,
  maxLength: 15,
});

t.test('the queue from the head on is that of all who ever held the role', async () => {
  fc.assert(
    fc.property(ops, fc.nat(15), fc.nat(LAST), (list, rolled, head) => {
      const view = createOverlay(createCommittedView(createMemoryStore(), scheme));
      for (const [i, { of, ...rest }] of list.entries()) {
        recordRoleOp(view, accounts[of]!, { role: MINER, ...rest });
        // The roll may begin in the middle; blocks may be early or late with what they record.
        if (i >= rolled) noteHolder(view, accounts[of]!, MINER, (head * i) / list.length);
      }
      let queue = minerQueue(view, head);
      for (let time = head; time <= LAST + 1; time++) {
        if (time >= queue.until) queue = minerQueue(view, time);
        const expected = inOneGo(minersInSteps(view, time));
        if (Buffer.compare(Buffer.concat(queue.members), Buffer.concat(expected)) !== 0) {
          return false;
        }
      }
      return true;
    }),
    { numRuns: 500 },
  );
});
