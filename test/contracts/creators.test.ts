// Images are fetched in the turn of the creator of a contract, whoever calls it.
import t from 'tap';
import { base58 } from '../../src/codec/text.ts';
import { hashOfImage } from '../simulated/containers.ts';
import { add, contractNode, sum } from './contract-node.ts';

t.test('the creator asks for the image of a contract', async (t) => {
  const { at, containers, owner, created, call } = await contractNode(t, { sum, next: sum });
  const contract = await created('sum');
  const other = at.accounts[1]!;
  const contractId = base58.encode(contract.id);
  await at.send(other, { type: 104, contractId, params: [], ...add(1) });
  await call(contract, add(1));
  await at.mine();
  t.strictSame(containers.creatorsOf('sum'), [base58.encode(owner.address)]);

  const image = { image: 'next', imageHash: hashOfImage('next') };
  await at.send(owner, { type: 107, contractId, ...image });
  await at.mine();
  t.strictSame(containers.creatorsOf('next'), [base58.encode(owner.address)]);
});
