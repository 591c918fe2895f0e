// A signer that does not answer says nothing of what contracts have returned.
import t, { type Test } from 'tap';
import { apiError } from '../../src/base/errors.ts';
import { seededRandom } from '../crypto/random.ts';
import { family } from '../family.ts';
import { callOf, groupOf, inPool } from './atomic-groups.ts';
import { add, contractNode, sum } from './contract-node.ts';

/** Results are transactions; blocks are signed all the time. */
async function nodeWithSigner(t: Test) {
  const line = { isCut: false, asked: 0 };
  const random = seededRandom('a signer');
  const node = await contractNode(
    t,
    { sum },
    {
      around({ ownerKey, ...ports }) {
        const publicKey = family.publicKeyOf(ownerKey!);
        return {
          ...ports,
          keyHolder: {
            publicKeyOf: () => publicKey,
            problem: () => undefined,
            async sign(kind, _address, message) {
              if (kind === 'transaction') {
                line.asked++;
                if (line.isCut) throw apiError('SignerAway');
              }
              return family.sign(ownerKey!, message, random);
            },
          },
        };
      },
    },
  );
  return { node, line };
}

for (const isAtomic of [false, true]) {
  const name = isAtomic ? 'calls inside an atomic transaction' : 'a call';
  t.test(`${name} waits for the signer`, async (t) => {
    const { node, line } = await nodeWithSigner(t);
    const { at } = node;
    const contract = await node.created('sum');
    const { pool, blockchain } = at.node;
    line.isCut = true;
    const tx = isAtomic
      ? await pool.submit(
          groupOf(node, [callOf(node, contract, add(1)), callOf(node, contract, add(2))]),
        )
      : await node.call(contract, add(3));
    const [before, { height }] = [line.asked, blockchain.tip()];
    for (let i = 1; i <= 12; i++) {
      await at.mine();
      t.ok(inPool(node, tx), `round ${i}`);
      t.equal(blockchain.tip().height, height + i, 'a block without it');
    }
    t.ok(line.asked > before, 'it was executed');
    t.equal(pool.dropped(tx.id), undefined);
    t.notOk(
      node.statuses(tx).some((status) => /^Error|^Failure null/.test(status)),
      'nobody is told that it was refused',
    );
    t.strictSame(at.log.of('miner.failed'), []);
    line.isCut = false;
    for (let i = 0; i < 100 && pool.size() > 0; i++) await at.mine();
    t.strictSame(node.state(contract), { sum: 3n });
  });
}
