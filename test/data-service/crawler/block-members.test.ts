/** Members of atomic transactions become rows that know their group. */
import t from 'tap';
import { stringify } from '../../../src/base/json/json.ts';
import { inOneGo } from '../../../src/concurrency/steps.ts';
import { withMemberRows } from '../../../src/data-service/crawler/block-members.ts';
import {
  type ChainBlock,
  NotABlock,
  readBlock,
} from '../../../src/data-service/crawler/chain-block.ts';
import { rowsOf } from '../../../src/data-service/crawler/rows/rows.ts';

const transfer = (id: string, sender: string, recipient: string) => ({
  ...{ type: 4, version: 3, id, sender, recipient, amount: 5, fee: 1, timestamp: 7, proofs: ['p'] },
});

const blockWith = (members: readonly object[]): ChainBlock =>
  readBlock({
    ...{ height: 3, signature: '2', reference: '3', timestamp: 9, generator: 'G', fee: 2 },
    transactions: [
      transfer('a', 'A', 'B'),
      { type: 120, version: 1, id: 'g', sender: 'S', fee: 0, timestamp: 8, transactions: members },
      transfer('z', 'B', 'A'),
    ],
  });

t.test('each behind its group', async (t) => {
  const block = withMemberRows(blockWith([transfer('m', 'C', 'D'), transfer('n', 'D', 'E')]));
  t.same(
    block.transactions.map(({ id, atomicId }) => [id, atomicId ?? null]),
    [
      ['a', null],
      ['g', null],
      ['m', 'g'],
      ['n', 'g'],
      ['z', null],
    ],
  );
  const { lines, typeCounts, nextSeq } = inOneGo(rowsOf([block], 11, new Map(), new Map()));
  t.same(
    [...typeCounts],
    [
      [4, 4],
      [120, 1],
    ],
  );
  t.equal(nextSeq, 16);
  t.match(lines.txs[2], /"atomicId":"g"/);
  const addresses = lines.tx_addresses.map((line) => line.split('\t').slice(0, 2).join(' '));
  t.ok(
    ['C 13', 'D 13', 'D 14', 'E 14'].every((row) => addresses.includes(row)),
    stringify(addresses),
  );
});

t.test('the result of a contract is a row of its own, found by who called', async (t) => {
  const call = { type: 104, id: 'c', sender: 'C', contractId: 'k', fee: 1, timestamp: 7 };
  const results = [{ key: 'sum', type: 'integer', value: 5 }];
  const result = { type: 105, version: 1, id: 'r', sender: 'G', fee: 0, timestamp: 8 };
  const block = withMemberRows(
    blockWith([{ ...result, tx: call, results, proofs: ['p'] }, transfer('n', 'D', 'E')]),
  );
  const { lines, unknown } = inOneGo(rowsOf([block], 11, new Map(), new Map()));
  t.equal(unknown, 0);
  t.match(lines.txs[2], /^13\tr\t105\t.*"atomicId":"g"/);
  const parties = lines.tx_addresses.map((line) => line.split('\t').slice(0, 2).join(' '));
  t.ok(parties.includes('C 13'), stringify(parties));
});

t.test('what is no member', async (t) => {
  const plain = blockWith([]);
  t.same(withMemberRows(plain).transactions, plain.transactions);
  t.throws(
    () => withMemberRows(blockWith([{ ...transfer('m', 'C', 'D'), type: 99_999 }])),
    NotABlock,
  );
});
