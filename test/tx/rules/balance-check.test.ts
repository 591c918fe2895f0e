/** Balances that no transaction may leave behind, and what is said of them. */
import t from 'tap';
import { accountOf } from '../../../src/ledger/accounts.ts';
import { accounts } from '../../../src/ledger/tables.ts';
import { checkBalances } from '../../../src/tx/rules/balance-check.ts';
import { issue } from '../../../src/tx/types/003-issue.ts';
import { transfer } from '../../../src/tx/types/004-transfer.ts';
import { sponsorFee } from '../../../src/tx/types/014-sponsor-fee.ts';
import { actor, createHarness, WEST } from './ledger-harness.ts';

const [alice, bob] = [actor(1), actor(2)] as const;
const network = () =>
  createHarness({
    balances: [alice, bob].map((of) => [of, 100n * WEST] as const),
    participants: [[alice, ['miner', 'permissioner', 'connection_manager', 'issuer']]],
  });

t.test('a fee in an asset that the sender does not have', async (t) => {
  const h = await network();
  const gold = { name: 'Gold', description: '', decimals: 0, reissuable: false };
  const { id: assetId } = h.send(issue, alice, { ...gold, quantity: 1_000_000n });
  h.send(sponsorFee, alice, { assetId, minSponsoredAssetFee: 1n }, { version: 1 });
  await h.mine();
  const pays = { recipient: alice.to, amount: 1n, feeAssetId: assetId, fee: 100_000n };
  t.match(h.refusal(h.make(transfer, bob, pays)), /^Attempt to transfer unavailable funds: /);
});

t.test('rows that are negative', async (t) => {
  const h = await network();
  const rows: readonly (readonly [object, RegExp])[] = [
    [{ balance: -1n }, /negative WEST balance: .* new: -1\)$/],
    [{ leasedOut: -1n }, /cannot lease-out negative amount\)$/],
    [{ leasedIn: -1n }, /cannot have negative lease-in balance\)$/],
    [{ balance: 4n, leasedOut: 5n }, /cannot spend leased balance\)$/],
  ];
  for (const [change, why] of rows) {
    const mark = h.draft.mark();
    const before = accountOf(h.draft, bob.address);
    h.draft.set(accounts, bob.address, { ...before, ...change });
    t.throws(() => checkBalances(h.draft, mark, 'WEST'), { message: why });
    t.same(accountOf(h.draft, bob.address), before, 'the writes are undone');
  }
});
