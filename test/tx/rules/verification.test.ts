import t from 'tap';
import { base58 } from '../../../src/codec/text.ts';
import { scripts } from '../../../src/ledger/tables.ts';
import { applyUnjudged } from '../../../src/tx/pipeline.ts';
import { NotedRuns } from '../../../src/tx/scripts/script-runs.ts';
import { genesis } from '../../../src/tx/types/001-genesis.ts';
import { payment } from '../../../src/tx/types/002-payment.ts';
import { transfer } from '../../../src/tx/types/004-transfer.ts';
import { genesisPermit } from '../../../src/tx/types/101-genesis-permit.ts';
import { genesisRegisterNode } from '../../../src/tx/types/110-genesis-register-node.ts';
import { compiled } from '../../generators/scripts.ts';
import { allBad, verdictsBy } from '../verdicts-by.ts';
import { actor, createHarness, WEST } from './ledger-harness.ts';

const [alice, bob] = [actor(1), actor(2)] as const;
const network = () => createHarness({ balances: [[alice, 10n * WEST]] });
const pay = { recipient: bob.to, amount: 1n };

t.test('scenario 72: exactly one valid proof', async (t) => {
  const h = await network();
  const proof = new Uint8Array(64);
  for (const proofs of [[], [proof, proof]]) {
    t.equal(
      h.refusal(h.make(transfer, alice, pay, { proofs })),
      'Transactions from non-scripted accounts must have exactly 1 proof',
    );
  }
  const tx = h.make(transfer, alice, pay);
  t.equal(
    h.refusal(tx, { verdicts: allBad(tx) }),
    `Script doesn't exist and proof doesn't validate as signature for '${base58.encode(tx.id)}'`,
  );
  const old = h.make(transfer, alice, pay, { version: 1 });
  t.equal(h.refusal(old, { verdicts: allBad(old) }), 'invalid signature');
  const nine = Array.from({ length: 9 }, () => proof);
  t.throws(() => h.make(transfer, alice, pay, { proofs: nine }));
  t.throws(() => h.make(transfer, alice, pay, { proofs: [new Uint8Array(65)] }));
});

t.test('the script of an account is asked, whatever its proofs are', async (t) => {
  const h = await network();
  h.draft.set(scripts, alice.address, compiled('false'));
  const proof = new Uint8Array(64);
  for (const count of [0, 1, 8]) {
    const tx = h.make(
      transfer,
      alice,
      { ...pay, fee: 1_400_000n },
      { proofs: Array(count).fill(proof) },
    );
    const verdicts = verdictsBy(tx, () => true);
    t.equal(h.refusal(tx, { verdicts }), 'Transaction is not allowed by account-script');
  }
});

t.test('verification comes before time, and time before funds', async (t) => {
  const h = await network();
  const bad = { recipient: bob.to, amount: 100n * WEST, timestamp: 1 };
  const tx = h.make(transfer, alice, bad);
  t.match(h.refusal(tx, { verdicts: allBad(tx) }), /^Script doesn't exist/);
  t.match(h.refusal(tx), /is too old/);
  t.match(h.refusal(h.make(transfer, alice, { ...bad, timestamp: h.now })), /unavailable funds/);
});

t.test('genesis types belong to the genesis block', async (t) => {
  const h = await network();
  const cases = [
    h.make(genesis, alice, { recipient: bob.address, amount: 1n }),
    h.make(genesisPermit, alice, { target: bob.address, role: 'miner' }),
    h.make(genesisRegisterNode, alice, { targetPublicKey: bob.publicKey }),
  ];
  for (const tx of cases) {
    t.equal(h.refusal(tx), `${tx.def.name} cannot appear in non-initial block`);
  }
  t.match(
    h.refusal(h.make(payment, alice, { recipient: bob.address, amount: 1n, fee: WEST })),
    /PaymentTransaction/,
    'nor is the oldest transfer taken',
  );
});

t.test('only genesis types stand in the genesis block', async (t) => {
  const h = await network();
  const tx = h.make(transfer, alice, { recipient: bob.to, amount: 1n });
  const known = {
    heightOf: () => undefined,
    find: () => undefined,
    scripts: new NotedRuns(),
  };
  t.throws(() => applyUnjudged(tx, h.draft, { ...h.block, height: 1 }, known), {
    message: /TransferTransaction cannot appear in the initial block/,
  });
  applyUnjudged(tx, h.draft, h.block, known);
});
