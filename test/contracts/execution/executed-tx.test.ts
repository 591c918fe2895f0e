/** Results that no bytes of a block can hold are refused where a transaction is made of them. */
import t from 'tap';
import { apiError } from '../../../src/base/errors.ts';
import { I64_MAX } from '../../../src/base/int.ts';
import type { DataEntry } from '../../../src/base/ports/containers.ts';
import { executedTx } from '../../../src/contracts/execution/executed-tx.ts';
import { unchecked } from '../../../src/tx/proof-verdicts.ts';
import { createContract } from '../../../src/tx/types/103-create-contract.ts';
import { GENESIS_TIME, miners, scheme, signed, users } from '../../chain/chain-harness.ts';

const tx = signed(
  createContract,
  users[0],
  {
    ...{ image: 'sum:1', imageHash: 'ab'.repeat(32), contractName: 'sum', params: [] },
    ...{ timestamp: GENESIS_TIME, fee: createContract.fee! },
  } as never,
  1,
);
const made = async (results: readonly DataEntry[]) =>
  (await executedTx(tx, unchecked(tx), results, GENESIS_TIME, miners[0]!, scheme)).tx.fields;
const flag = (key: string): DataEntry => ({ key, type: 'boolean', value: true });
const text = (value: string): DataEntry => ({ key: 'k', type: 'string', value });
const integer = (value: bigint): DataEntry => ({ key: 'k', type: 'integer', value });
const many = (count: number) => Array.from({ length: count }, (_, i) => flag(`${i}`));

t.test('results of a contract', async (t) => {
  t.equal(((await made(many(1000)))['results'] as unknown[]).length, 1000);
  await made([flag('я'), { ...text('😀'), key: 't' }, integer(-I64_MAX - 1n)]);
  const cases: readonly (readonly [readonly DataEntry[], RegExp])[] = [
    [many(65_536), /65536 results/],
    [[text('x'.repeat(9 * 1024 * 1024))], /results of too many bytes/],
    [[flag('\ud800')], /text that is no Unicode/],
    [[text('\ud800')], /text that is no Unicode/],
    [[integer(I64_MAX + 1n)], /Result 'k' is not an integer of 64 bits/],
    [[flag('k'), flag('k')], /duplicate/i],
  ];
  for (const [results, message] of cases) await t.rejects(made(results), { message });
});

t.test('nobody is asked to sign what is too large', async (t) => {
  const results = Array.from({ length: 30_000 }, (_, i) => ({ ...integer(1n), key: `${i}` }));
  // Its refusal would be no fault of the results, and the call would stay for good.
  const signer = {
    ...miners[0]!,
    sign: () => {
      throw apiError('SignerRefused', 'no transaction');
    },
  };
  const made = async () => executedTx(tx, unchecked(tx), results, GENESIS_TIME, signer, scheme);
  await t.rejects(made(), { message: /bytes, at most 307200 are allowed/ });
});
