// A file of cases may expect that a script fails. What is wrong in the file itself is no such failure.
import t from 'tap';
import { base58 } from '../../src/base/base58.ts';
import { generalHashes } from '../../src/crypto/general-hashes.ts';
import { testVectors, type VectorFile } from '../../src/script/vector-file.ts';
import { addresses, family, scheme } from '../generators/network.ts';

const hashes = { ...generalHashes, secureHash: family.secureHash, charges: family.charges };
const [address] = addresses as [Uint8Array];
const here = base58.encode(address);

/** One case that expects an error, with what the fixture has besides. */
const failing = (source: string, fixture: object, evaluation: object = {}): number => {
  const evaluations = [{ tx: 'one', height: 1, expect: 'error', ...evaluation }];
  const one = { object: 'Order', fields: {} };
  const file = {
    fixture: { chainId: scheme.chainId, transactions: { one }, state: {}, ...fixture },
    scripts: [{ source, evaluations }],
  };
  return testVectors(file as unknown as VectorFile, hashes, () => false).failing.length;
};

const reads = (key: string): string => `isDefined(getInteger(Address(base58'${here}'), "${key}"))`;

t.test('a failure of the script is what was expected', async (t) => {
  t.equal(failing('1 / 0 == 1', {}), 0);
  t.equal(failing('tx.id == tx.id', {}), 0, 'an absent field');
  t.equal(failing(reads('key'), {}), 1, 'an absent entry is no failure');
});

const mistakes: Readonly<Record<string, () => number>> = {
  'a transaction that is not there': () => failing('tx.id == tx.id', {}, { tx: 'two' }),
  'a name of every object': () => failing('tx.id == tx.id', {}, { tx: 'toString' }),
  'a transaction that is no record': () =>
    failing('tx.id == tx.id', { transactions: { one: null } }),
  'no height': () => failing('height == 1', {}, { height: undefined }),
  'a value without a type': () =>
    failing(reads('key'), { state: { data: { [here]: { key: 5 } } } }),
  'a value in the form of the node': () =>
    failing(reads('key'), { state: { data: { [here]: { key: { type: 'integer', value: 5 } } } } }),
  'a text that is a number': () =>
    failing(reads('key'), { state: { data: { [here]: { key: { string: 5 } } } } }),
  'an integer of null': () =>
    failing(reads('key'), { state: { data: { [here]: { key: { int: null } } } } }),
  'an alias of null': () =>
    failing('wavesBalance(Alias("bobby")) == 0', { state: { aliases: { bobby: null } } }),
  'a balance that is a text': () =>
    failing(`wavesBalance(Address(base58'${here}')) == 0`, {
      state: { balances: { [here]: { '': {} } } },
    }),
};

for (const [name, run] of Object.entries(mistakes)) {
  t.test(name, async (t) => {
    t.throws(run, { message: /^The fixture (?:is wrong: |has no transaction )/ });
  });
}

t.test('addresses are those of the network, as on a node', async (t) => {
  const balanceOf = (bytes: Uint8Array) =>
    `wavesBalance(Address(base58'${base58.encode(bytes)}')) == 0`;
  const evaluates = (bytes: Uint8Array): boolean => failing(balanceOf(bytes), {}) === 1;
  t.ok(evaluates(address));
  t.notOk(evaluates(address.slice(1)));
  t.notOk(evaluates(address.with(25, address[25]! ^ 1)));
  t.notOk(failing(balanceOf(address), { chainId: scheme.chainId + 1 }), 'of another network');
});
