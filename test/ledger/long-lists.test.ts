// Lists of the state that may be long: read and sorted in steps, so that answers yield to other
// work.
import t from 'tap';
import { inOneGo } from '../../src/concurrency/steps.ts';
import { createCommittedView } from '../../src/ledger/committed-view.ts';
import { minersInSteps } from '../../src/ledger/miner-queue.ts';
import { createOverlay } from '../../src/ledger/overlay.ts';
import { participantsInOrder } from '../../src/ledger/participants.ts';
import { recordRoleOp } from '../../src/ledger/permissions.ts';
import { membersOf, RECIPIENT } from '../../src/ledger/policies.ts';
import { MINER } from '../../src/ledger/roles.ts';
import { participants, policyMembers } from '../../src/ledger/tables.ts';
import { createMemoryStore } from '../simulated/memory-store.ts';
import { scheme } from './tables.ts';

const COUNT = 5000;
const policy = new Uint8Array(32);

/** Neither ascending nor descending. */
function addressOf(i: number): Uint8Array {
  const address = new Uint8Array(26);
  new DataView(address.buffer).setUint32(0, Math.imul(i, 2_654_435_761));
  return address;
}

function stepsOf(work: Generator<undefined, unknown>): number {
  let taken = 0;
  while (work.next().done !== true) taken++;
  return taken;
}

t.test('members, participants and miners', async (t) => {
  const view = createOverlay(createCommittedView(createMemoryStore(), scheme));
  const addresses = Array.from({ length: COUNT }, (_, i) => addressOf(i));
  for (const [i, address] of addresses.entries()) {
    view.set(policyMembers, [policy, RECIPIENT, address], i);
    view.set(participants, address, { publicKey: address, nodeName: '', height: 1, order: i });
    recordRoleOp(view, address, { role: MINER, timestamp: i, add: true, due: undefined });
  }
  t.strictSame(inOneGo(membersOf(view, policy, RECIPIENT)), addresses);
  const inOrder = inOneGo(participantsInOrder(view));
  t.strictSame(
    inOrder.map(([address]) => address),
    addresses,
  );
  t.strictSame(inOneGo(minersInSteps(view, COUNT)), addresses);
  for (const list of [
    membersOf(view, policy, RECIPIENT),
    participantsInOrder(view),
    minersInSteps(view, COUNT),
  ]) {
    t.ok(stepsOf(list) >= COUNT / 256, 'in steps of a few hundred rows');
  }
});
