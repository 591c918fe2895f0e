// The overrides of voters in a configuration (finality.md#overrides).
import t from 'tap';
import { base58 } from '../../../src/base/base58.ts';
import type { Config } from '../../../src/node/config/settings.ts';
import { voterOverrides } from '../../../src/node/config/voter-overrides.ts';
import { scheme } from '../../chain/chain-harness.ts';

const text = (size: number, fill = 1): string => base58.encode(new Uint8Array(size).fill(fill));
const key = text(scheme.publicKeySize);
const entry = { height: 7, header: text(32), voters: [key, text(scheme.publicKeySize, 2)] };
type Entries = Config['finality']['overrides'];
const read = (...overrides: Entries) =>
  voterOverrides(
    { finality: { overrides, checkpointHeight: undefined, checkpointRuleHash: undefined } },
    scheme,
  );

t.test('an entry names a block by its header, and voters by their keys', async (t) => {
  t.strictSame(read(), []);
  const [found] = read(entry);
  t.strictSame(found!.block, { height: 7, id: new Uint8Array(32).fill(1) });
  t.strictSame(found!.voters.map(base58.encode), entry.voters);
});

for (const [name, entries, why] of [
  ['two of one height', [entry, entry], /two entries have one height/],
  ['nobody', [{ ...entry, voters: [] }], /1 to 1000 voters, each once/],
  ['one voter twice', [{ ...entry, voters: [key, key] }], /1 to 1000 voters, each once/],
  [
    'too many',
    [
      {
        ...entry,
        voters: Array.from({ length: 1001 }, (_, i) => base58.encode(keyOf(i))),
      },
    ],
    /1 to 1000 voters, each once/,
  ],
  ['a short hash', [{ ...entry, header: text(31) }], /is no header hash; write 32 bytes/],
  ['a long key', [{ ...entry, voters: [text(scheme.publicKeySize + 1)] }], /is no public key/],
  ['no Base58', [{ ...entry, header: '0' }], /'0' is no header hash/],
] as const) {
  t.test(`refused: ${name}`, async (t) => {
    t.throws(() => read(...entries), { name: 'StartError', message: why });
  });
}

function keyOf(i: number): Uint8Array {
  const bytes = new Uint8Array(scheme.publicKeySize);
  new DataView(bytes.buffer).setUint32(0, i);
  return bytes;
}
