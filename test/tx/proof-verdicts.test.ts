// Verdicts of other threads are assigned to the right proofs, and say nothing about other bytes.
import t from 'tap';
import type { SignatureCheck, Verifier } from '../../src/base/ports/verifier.ts';
import { checkProofs, ProofChecks, ProofVerdicts, unchecked } from '../../src/tx/proof-verdicts.ts';
import type { Proven, Tx } from '../../src/tx/transaction.ts';
import { transfer } from '../../src/tx/types/004-transfer.ts';
import { actor, createHarness, WEST } from './rules/ledger-harness.ts';
import { verdictsBy } from './verdicts-by.ts';

const [alice, bob] = [actor(1), actor(2)] as const;
const proof = (byte: number): Uint8Array => new Uint8Array(64).fill(byte);
const isOdd = (signature: Uint8Array): boolean => signature[0]! % 2 === 1;
const NOTHING = { own: [], carried: [] };

/** Odd proofs are good. */
const verifier: Pick<Verifier, 'verify' | 'verifyOne'> = {
  verifyOne: async (_key, _message, signature) => isOdd(signature),
  verify: async (items) => items.map(({ signature }) => isOdd(signature)),
};

async function transfers() {
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
  return [pay(proof(1)), pay(), pay(proof(2), proof(3)), pay(proof(4)), trade] as const;
}

const expected = [
  { own: [true], carried: [] },
  NOTHING,
  { own: [false, true], carried: [] },
  { own: [false], carried: [] },
  { own: [true], carried: [[false, true], [], [false]] },
];

t.test('each answer goes to its proof', async (t) => {
  const txs = await transfers();
  const other = { publicKey: proof(0), message: proof(0), signature: proof(9) };
  const checks = new ProofChecks([other]);
  for (const tx of txs) checks.add(tx);
  const asked: SignatureCheck[] = [];
  const others = await checks.ask({
    verify(items) {
      asked.push(...items);
      return verifier.verify(items);
    },
  });
  t.same(
    asked.map(({ signature }) => signature[0]),
    [9, 1, 2, 3, 4, 5, 6, 7, 8],
  );
  t.same(others, [true]);
  const found = txs.map((tx, i) => checks.verdicts(i).about(tx));
  t.same(found, expected);
  const alone = await Promise.all(txs.map((tx) => checkProofs(tx, undefined, verifier)));
  t.same(
    alone.map((verdicts, i) => verdicts.about(txs[i]!)),
    expected,
    'the same for each alone',
  );
  const said = txs.map((tx) => verdictsBy(tx, (_index, { signature }) => isOdd(signature)));
  t.same(
    said.map((verdicts, i) => verdicts.about(txs[i]!)),
    expected,
    'and from a thread of this process',
  );
});

t.test('they say nothing about other bytes, and go along with the same ones', async (t) => {
  const [good, , , bad] = await transfers();
  const verdicts = await checkProofs(good, undefined, verifier);
  t.same(verdicts.about(bad), NOTHING, 'another proof');
  const copy = { bytes: good.bytes.slice() };
  t.same(verdicts.about(copy), expected[0], 'the same bytes in another place');
  t.same(new ProofVerdicts(copy, verdicts).about(good), expected[0]);
  t.same(new ProofVerdicts(bad, verdicts).about(bad), NOTHING, 'nor can they be taken over');
  const learning = unchecked(bad);
  learning.learn(verdicts);
  t.same([learning.about(bad), learning.about(good)], [NOTHING, NOTHING], 'nor be learned');
  learning.learn(await checkProofs(bad, undefined, verifier));
  t.same(learning.about(bad), { own: [false], carried: [] });
});

t.test('a check for a script is no verdict on the signature of the account', async (t) => {
  const [good] = await transfers();
  const plan = [[{ proof: 0, publicKey: bob.publicKey }]];
  const verdicts = await checkProofs(good, plan, verifier);
  t.same(verdicts.about(good).own, []);
  t.same(verdicts.about(good).planned, [[{ proof: 0, publicKey: bob.publicKey, isGood: true }]]);
  t.notOk(verdicts.isComplete);
  t.notOk(unchecked(good).isComplete);
  t.ok((await checkProofs(good, undefined, verifier)).isComplete);
});

t.test('a verifier that answers more or less than it was asked is believed nothing', async (t) => {
  const [good] = await transfers();
  for (const answers of [[], [true, true]]) {
    const checks = new ProofChecks();
    checks.add(good);
    await t.rejects(checks.ask({ verify: async () => answers }), { name: 'AssertionError' });
    t.throws(() => checks.verdicts(0));
  }
});
