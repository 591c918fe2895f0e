/**
 * Every layout of every type: value → bytes → value → JSON → value, on generated values (R9).
 * ROUND_TRIPS says how many; `npm run test:bytes` takes five times as many.
 */
import t from 'tap';
import { equal } from '../../src/base/bytes.ts';
import { parse, stringify } from '../../src/base/json/json.ts';
import { broadcastFromJson, txFromJson, txToJson } from '../../src/tx/json/encode.ts';
import { allTypes } from '../../src/tx/registry.ts';
import { buildTx, decodeTx } from '../../src/tx/tx-bytes.ts';
import { scheme } from '../generators/network.ts';
import { Rng } from '../generators/random.ts';
import { transactionOf } from '../generators/tx.ts';

const TRANSACTIONS = Number(process.env['ROUND_TRIPS'] ?? 20_000);
/** JSON through its text costs several times as much as bytes, so it gets a share. */
const JSON_ONE_IN = 3;

const layouts = allTypes.flatMap((def) => def.layouts.map((layout) => ({ def, layout })));

t.test(`${TRANSACTIONS} transactions of ${layouts.length} layouts`, (t) => {
  for (let seed = 0; seed < TRANSACTIONS; seed++) {
    const { def, layout } = layouts[seed % layouts.length]!;
    const rng = new Rng(seed);
    const tx = transactionOf(def, layout, rng);
    const back = decodeTx(tx.bytes, scheme);
    const same =
      back.layout === layout &&
      equal(buildTx(def, layout, back.fields, back.proofs, scheme).bytes, tx.bytes) &&
      equal(back.body, tx.body) &&
      equal(back.id, tx.id) &&
      equal(back.sender, tx.sender);
    if (!same) t.fail(`bytes of ${def.key} ${layout.version}`, { seed });

    if (!rng.chance(JSON_ONE_IN)) continue;
    const text = stringify(txToJson(back, scheme));
    const candidates = def.internal
      ? [txFromJson(parse(text), scheme)]
      : broadcastFromJson(parse(text), scheme);
    if (!candidates.some((read) => equal(read.bytes, tx.bytes))) {
      t.fail(`JSON of ${def.key} ${layout.version}`, { seed, text });
    }
  }
  t.pass('all of them');
  t.end();
});

t.test('the same seed gives the same transaction', (t) => {
  for (const { def, layout } of layouts) {
    const [a, b] = [new Rng(7), new Rng(7)].map((rng) => transactionOf(def, layout, rng));
    t.same(a!.bytes, b!.bytes, `${def.key} ${layout.version}`);
  }
  t.end();
});
