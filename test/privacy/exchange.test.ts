/** Confidential data among whole nodes (protocol.md §9): who gets them, and who does not. */
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { dataOf, held, members, sha256 } from './members.ts';

t.test('what a member sends the others fetch, and nobody else', async (t) => {
  const network = await members(t, { miners: ['a'], others: ['b', 'c', 'd'] });
  const a = await network.keep('a');
  const b = await network.keep('b');
  const c = await network.keep('c');
  const all = [a, b, c];
  const policyId = await network.policy([a, b], all);
  const bytes = randomBytes(300_000);
  const tx = await a.node.services.privacy!.send(dataOf(a, policyId, bytes), true);
  t.equal(tx.type, 114);
  await network.until('the data at b', async () => (await held(b, policyId, bytes)) !== undefined);
  t.ok((await held(b, policyId, bytes))!.equals(bytes), 'byte by byte');
  t.equal(await held(c, policyId, bytes), undefined);
  t.match(await b.node.services.privacy!.info(sha256(bytes)), {
    filename: 'a contract.pdf',
    size: '300000',
    timestamp: 1_000_000_000n,
  });
});
