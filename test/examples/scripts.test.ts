// What the scripts of the guide permit and refuse.
import { readFileSync } from 'node:fs';
import t from 'tap';
import { generalHashes } from '../../src/crypto/general-hashes.ts';
import { testVectors, type VectorFile } from '../../src/script/vector-file.ts';
import { addresses, family, scheme } from '../generators/network.ts';

const hashes = { ...generalHashes, secureHash: family.secureHash, charges: family.charges };
const [issuer, ...holders] = addresses.slice(0, 4).map((bytes) => scheme.addressToText(bytes)) as [
  string,
  string,
  string,
  string,
];

t.test('an asset for those on a list', async (t) => {
  const source = readFileSync(
    new URL('../../examples/scripts/listed-holders.ride', import.meta.url),
    'utf8',
  ).replace('ISSUER', issuer);
  const [listed, removed, unknown] = holders;
  const to = (bytes: string) => {
    const recipient = { object: 'Address', fields: { bytes: { bytes } } };
    return { object: 'TransferTransaction', fields: { recipient } };
  };
  const record = (object: string) => ({ object, fields: {} });
  const transactions = {
    listed: to(listed),
    removed: to(removed),
    unknown: to(unknown),
    many: record('MassTransferTransaction'),
    burn: record('BurnTransaction'),
  };
  const data = { [issuer]: { [listed]: { boolean: true }, [removed]: { boolean: false } } };
  const verdicts = { listed: true, removed: false, unknown: false, many: false, burn: true };
  const evaluations = Object.entries(verdicts).map(([tx, expect]) => ({ tx, height: 1, expect }));
  const file: VectorFile = {
    fixture: { chainId: scheme.chainId, transactions, state: { data } },
    scripts: [{ source, assetScript: true, evaluations }],
  };
  t.strictSame(testVectors(file, hashes, () => false).failing, []);
});
