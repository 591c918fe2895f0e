// A block that becomes final while another branch is about to take its place.
import t from 'tap';
import { finalFloor, finalProofWrite } from '../../src/chain/finality/final-floor.ts';
import { encodeFinalProof } from '../../src/finality/proofs/final-proof.ts';
import { decodeJustification } from '../../src/finality/proofs/justification.ts';
import { scheme } from './chain-harness.ts';
import { chainWith, justificationOf, linkTo, mineCarrying } from './finality-harness.ts';

const NOTHING = new Uint8Array(0);

async function withProof() {
  const at = await chainWith();
  await mineCarrying(at, NOTHING);
  for (let height = 3; height <= 5; height++) {
    await mineCarrying(at, justificationOf(at, height - 1));
  }
  const { vote: link } = linkTo(at, 5);
  const justification = decodeJustification(justificationOf(at, 5), scheme);
  return { at, proof: { link, justification } };
}

t.test('it stays, though nothing was final when the change began', async (t) => {
  const { at, proof: proofOf4 } = await withProof();
  const { blockchain, store } = at;
  const proof = encodeFinalProof(proofOf4, scheme);
  t.teardown(
    blockchain.listen({
      rollingBack: async () => store.write([finalProofWrite(proof)]),
    }),
  );
  await t.rejects(blockchain.rollback(2), { message: /is final and is never taken back/ });
  t.equal(blockchain.tip().height, 5);
  t.equal(finalFloor(blockchain.view), 4);
});

t.test('nobody is asked to keep what is never taken back', async (t) => {
  const { at, proof } = await withProof();
  const { blockchain, store } = at;
  await store.write([finalProofWrite(encodeFinalProof(proof, scheme))]);
  t.teardown(
    blockchain.listen({
      rollingBack: async () => void t.fail('transactions go to the journal'),
    }),
  );
  await t.rejects(blockchain.rollback(2), { message: /is final and is never taken back/ });
});
