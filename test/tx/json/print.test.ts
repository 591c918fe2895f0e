// Printing from bytes gives the very text of decoding, for generated values of every layout.

import t from 'tap';
import { base58 } from '../../../src/base/base58.ts';
import { equal } from '../../../src/base/bytes.ts';
import { txToJson } from '../../../src/tx/json/encode.ts';
import { printTx } from '../../../src/tx/json/print.ts';
import { allTypes } from '../../../src/tx/registry.ts';
import { decodeTx } from '../../../src/tx/tx-bytes.ts';
import { transfer } from '../../../src/tx/types/004-transfer.ts';
import { scheme } from '../../generators/network.ts';
import { Rng } from '../../generators/random.ts';
import { transactionOf } from '../../generators/tx.ts';

const EACH = Number(process.env['PRINTS'] ?? 200);

t.test('the text of a transaction is that of its JSON', (t) => {
  const printed = new Set<number>();
  for (const def of allTypes) {
    for (const layout of def.layouts) {
      for (let seed = 0; seed < EACH; seed++) {
        const { bytes } = transactionOf(def, layout, new Rng(seed));
        const found = printTx(bytes, scheme);
        if (found === undefined) continue;
        printed.add(def.type);
        const tx = decodeTx(bytes, scheme);
        const text = JSON.stringify(txToJson(tx, scheme));
        const isSame =
          found.type === tx.type && equal(found.id, tx.id) && `${found.open}}` === text;
        if (!isSame) t.fail(`${def.key} ${layout.version}`, { seed, text, open: found.open });
      }
    }
  }
  t.ok(printed.has(transfer.type), 'a transfer');
  t.ok(printed.size >= allTypes.length / 2, `${printed.size} of ${allTypes.length} types`);
  t.end();
});

t.test('whatever has no transaction in it is refused', (t) => {
  t.throws(() => printTx(new Uint8Array(0), scheme), { name: 'CodecError' });
  t.throws(() => printTx(new Uint8Array([0, 99, 1]), scheme), { name: 'CodecError' });
  t.end();
});

t.test('a known id spares its text, and another one changes nothing', (t) => {
  const def = allTypes.find(({ type }) => type === transfer.type)!;
  const { bytes } = transactionOf(def, def.layouts[0]!, new Rng(1));
  const { id, open } = printTx(bytes, scheme)!;
  const text = base58.encode(id);
  t.equal(printTx(bytes, scheme, { bytes: id, text })?.open, open);
  const other = id.slice();
  other[31] = other[31]! ^ 1;
  t.equal(printTx(bytes, scheme, { bytes: other, text: base58.encode(other) })?.open, open);
  t.end();
});
