import t from 'tap';
import { accountOf, available, effective } from '../../../src/ledger/accounts.ts';
import { activeLeasesOf } from '../../../src/ledger/leases.ts';
import { transfer } from '../../../src/tx/types/004-transfer.ts';
import { lease } from '../../../src/tx/types/008-lease.ts';
import { leaseCancel } from '../../../src/tx/types/009-lease-cancel.ts';
import { createAlias } from '../../../src/tx/types/010-create-alias.ts';
import { actor, createHarness, type Harness, toAlias, WEST } from './ledger-harness.ts';

const [alice, bob, carol] = [actor(1), actor(2), actor(3)] as const;

async function network(): Promise<Harness> {
  return createHarness({
    balances: [
      [alice, 10n * WEST],
      [bob, 10n * WEST],
    ],
  });
}

t.test('a lease moves effective balance and nothing else', async (t) => {
  const h = await network();
  const first = h.send(lease, alice, { recipient: bob.to, amount: 4n * WEST });
  await h.mine();
  const second = h.send(lease, alice, { recipient: carol.to, amount: WEST });
  await h.mine();
  const of = (address: Uint8Array) => accountOf(h.head, address);
  t.equal(available(of(alice.address)), 5n * WEST - 2n * lease.fee!);
  t.equal(effective(of(bob.address)), 14n * WEST);
  t.same([...activeLeasesOf(h.head, alice.address, 10)], [second.id, first.id]);
  t.same([...activeLeasesOf(h.head, carol.address, 10)], [second.id]);
});

t.test('to whom and how much', async (t) => {
  const h = await network();
  const refusal = (input: object) => h.refusal(h.make(lease, alice, input));
  const self = `Cannot lease to self. Sender address ${alice.text} equals to recipient address`;
  t.equal(refusal({ recipient: alice.to, amount: 1n }), self);
  h.send(lease, alice, { recipient: bob.to, amount: 4n * WEST });
  t.equal(
    refusal({ recipient: bob.to, amount: 6n * WEST }),
    'Cannot lease more than own: Balance:999000000, already leased: 400000000',
  );
  t.equal(
    refusal({ recipient: toAlias('nobody'), amount: 1n }),
    'AliasDoesNotExist(alias:T:nobody)',
  );
  h.send(createAlias, bob, { alias: 'bobby' });
  h.send(lease, alice, { recipient: toAlias('bobby'), amount: 1n });
  await h.mine();
  t.equal(accountOf(h.head, bob.address).leasedIn, 4n * WEST + 1n);
});

t.test('scenario 59: a lease leaves the fee', async (t) => {
  const h = await network();
  const tx = h.make(lease, alice, { recipient: bob.to, amount: 10n * WEST - lease.fee! + 1n });
  t.equal(h.refusal(tx), `BalanceErrors(${alice.text} -> cannot spend leased balance)`);
  h.send(lease, alice, { recipient: bob.to, amount: 10n * WEST - lease.fee! });
  await h.mine();
});

t.test('scenario 60: who ends a lease, and only once', async (t) => {
  const h = await network();
  const { id: leaseId } = h.send(lease, alice, { recipient: bob.to, amount: 9n * WEST });
  await h.mine();
  const cancel = (from: typeof alice, id = leaseId) => h.make(leaseCancel, from, { leaseId: id });
  const other = 'LeaseTransaction was leased by other sender';
  t.equal(h.refusal(cancel(bob)), other);
  h.send(transfer, bob, { recipient: carol.to, amount: WEST });
  t.equal(h.refusal(cancel(carol)), other);
  t.equal(h.refusal(cancel(alice, new Uint8Array(32))), 'Related LeaseTransaction not found');
  h.apply(cancel(alice));
  t.equal(
    h.refusal(h.make(leaseCancel, alice, { leaseId, timestamp: h.now + 1 })),
    'Cannot cancel already cancelled lease',
  );
  h.send(transfer, alice, { recipient: carol.to, amount: 9n * WEST });
  await h.mine();
  t.equal(h.balance(carol), 10n * WEST);
});

t.test('scenario 61: leased funds are not spent', async (t) => {
  const h = await network();
  h.send(lease, alice, { recipient: bob.to, amount: 9n * WEST });
  await h.mine();
  t.equal(
    h.refusal(h.make(transfer, alice, { recipient: bob.to, amount: 2n * WEST })),
    `BalanceErrors(${alice.text} -> cannot spend leased balance)`,
  );
  t.match(
    h.refusal(h.make(transfer, bob, { recipient: alice.to, amount: 12n * WEST })),
    /^Attempt to transfer unavailable funds/,
    'nor by whom they were leased to',
  );
});
