/** The addresses, apart from the sender, for which the index lists a transaction. */
import t from 'tap';
import type { Tx } from '../../../src/tx/transaction.ts';
import { genesis } from '../../../src/tx/types/001-genesis.ts';
import { transfer } from '../../../src/tx/types/004-transfer.ts';
import { lease } from '../../../src/tx/types/008-lease.ts';
import { leaseCancel } from '../../../src/tx/types/009-lease-cancel.ts';
import { createAlias } from '../../../src/tx/types/010-create-alias.ts';
import { massTransfer } from '../../../src/tx/types/011-mass-transfer.ts';
import { data } from '../../../src/tx/types/012-data.ts';
import { genesisPermit } from '../../../src/tx/types/101-genesis-permit.ts';
import { permit } from '../../../src/tx/types/102-permit.ts';
import { genesisRegisterNode } from '../../../src/tx/types/110-genesis-register-node.ts';
import { registerNode } from '../../../src/tx/types/111-register-node.ts';
import { actor, createHarness, toAlias, WEST } from './ledger-harness.ts';

const [alice, bob, carol] = [actor(1), actor(2), actor(3)] as const;

t.test('everybody whom a transaction concerns', async (t) => {
  const h = await createHarness({
    balances: [
      [alice, 100n * WEST],
      [bob, 100n * WEST],
    ],
  });
  h.send(createAlias, bob, { alias: 'bobby' });
  const leased = h.send(lease, alice, { recipient: toAlias('bobby'), amount: 1n });
  await h.mine();
  const involved = (tx: Tx) => [...(tx.def.involved?.(tx, h.head) ?? [])];
  const both = [toAlias('bobby'), carol.to].map((recipient) => ({ recipient, amount: 1n }));
  const cases: readonly (readonly [Tx, readonly Uint8Array[]])[] = [
    [h.make(genesis, alice, { recipient: bob.address, amount: 1n }), [bob.address]],
    [h.make(transfer, alice, { recipient: toAlias('bobby'), amount: 1n }), [bob.address]],
    [h.make(transfer, alice, { recipient: toAlias('nobody'), amount: 1n }), []],
    [leased, [bob.address]],
    [h.make(leaseCancel, alice, { leaseId: leased.id }), [bob.address]],
    [h.make(leaseCancel, alice, { leaseId: new Uint8Array(32) }), []],
    [h.make(massTransfer, alice, { transfers: both }), [bob.address, carol.address]],
    [h.make(data, alice, { authorPublicKey: bob.publicKey, data: [] }), [bob.address]],
    [h.make(genesisPermit, alice, { target: bob.address, role: 'dex' }), [bob.address]],
    [h.make(permit, alice, { target: carol.to, opType: 'add', role: 'dex' }), [carol.address]],
    [h.make(genesisRegisterNode, alice, { targetPublicKey: bob.publicKey }), [bob.address]],
    [
      h.make(registerNode, alice, { targetPubKey: bob.publicKey, nodeName: 'b', opType: 'add' }),
      [bob.address],
    ],
  ];
  for (const [tx, expected] of cases) t.same(involved(tx), expected, tx.def.name);
});
