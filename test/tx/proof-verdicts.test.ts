// Verdicts of other threads are assigned to the right proofs.
import t from 'tap';
import type { SignatureCheck } from '../../src/base/ports.ts';
import {
  addChecks,
  allGood,
  ONE_BAD,
  ONE_GOOD,
  takeVerdicts,
} from '../../src/tx/proof-verdicts.ts';
import type { Proven, Tx } from '../../src/tx/transaction.ts';
import { transfer } from '../../src/tx/types/004-transfer.ts';
import { actor, createHarness, WEST } from '../rules/ledger-harness.ts';

const [alice, bob] = [actor(1), actor(2)] as const;
const proof = (byte: number): Uint8Array => new Uint8Array(64).fill(byte);

t.test('each answer goes to its proof', async (t) => {
  const h = await createHarness({ balances: [[alice, WEST]] });
  const pay = (...proofs: Uint8Array[]): Tx =>
    h.make(transfer, alice, { recipient: bob.to, amount: 1n }, { proofs });
  const order = (...proofs: Uint8Array[]): Proven => ({
    publicKey: bob.publicKey,
    message: new Uint8Array(1),
    proofs,
  });
  const plain = pay(proof(5));
  const trade = {
    ...plain,
    def: { ...plain.def, carried: () => [order(proof(6), proof(7)), order(), order(proof(8))] },
  };
  const txs = [pay(proof(1)), pay(), pay(proof(2), proof(3)), pay(proof(4)), trade];
  const checks: SignatureCheck[] = [];
  for (const tx of txs) addChecks(checks, tx);
  t.same(
    checks.map(({ signature }) => signature[0]),
    [1, 2, 3, 4, 5, 6, 7, 8],
  );
  const answers = checks.map(({ signature }) => signature[0]! % 2 === 1).values();
  const [good, none, two, bad, carrying] = txs.map((tx) => takeVerdicts(answers, tx));
  t.equal(good, ONE_GOOD, 'shared');
  t.equal(bad, ONE_BAD, 'shared');
  t.same([none!.own, two!.own], [[], [false, true]]);
  t.same(carrying, { own: [true], carried: [[false, true], [], [false]] });
  t.equal(allGood(plain), ONE_GOOD);
  t.same(allGood(trade), { own: [true], carried: [[true, true], [], [true]] });
});
