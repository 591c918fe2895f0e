/** What the state holds was checked before, so a run repeats none of the checks that take long. */
import t from 'tap';
import { COMPLEXITY_MAX } from '../../src/script/estimator.ts';
import { writeScript } from '../../src/script/language/binary.ts';
import { ScriptError, type Tree } from '../../src/script/language/tree.ts';
import { createScripts } from '../../src/script/script.ts';
import { types } from '../../src/tx/registry.ts';
import { decodeStoredTx, decodeTx } from '../../src/tx/tx-bytes.ts';
import { family, scheme } from '../generators/network.ts';
import { Rng } from '../generators/random.ts';
import { transactionOf } from '../generators/tx.ts';
import { call, TRUE, zeros } from './world.ts';

/** Hashes that cost more than a script may. */
function tooComplex(): Tree {
  let tree: Tree = zeros(1);
  for (let i = 0; i < 250; i++) tree = call(504, tree);
  return call(0, tree, TRUE);
}

t.test('the complexity of a stored script is not estimated', async (t) => {
  const scripts = createScripts(family.secureHash);
  const bytes = writeScript(1, tooComplex(), family.secureHash);
  t.throws(() => scripts.read(bytes), ScriptError);
  const script = scripts.stored(bytes);
  t.same(script.bytes, bytes);
  t.throws(() => script.complexity, { message: new RegExp(`> ${COMPLEXITY_MAX}$`) });
  t.throws(() => scripts.read(bytes), ScriptError, 'although it is known now');
  t.throws(() => scripts.stored(bytes.subarray(1)), ScriptError, 'it must be one');
});

t.test('a transaction of the chain is read without the rules of its type', async (t) => {
  const def = types.get(13)!;
  const rng = new Rng(24);
  let tx = transactionOf(def, def.layouts[0]!, rng);
  while (tx.fields['script'] === undefined) tx = transactionOf(def, def.layouts[0]!, rng);
  const script = tx.fields['script'] as Uint8Array;
  const bytes = tx.bytes.slice();
  // The last byte of the checksum.
  bytes[Buffer.from(bytes).indexOf(script) + script.length - 1]! ^= 1;
  t.throws(() => decodeTx(bytes, scheme), { message: /Invalid checksum/ });
  t.notSame(decodeStoredTx(bytes, scheme).id, tx.id);
  t.same(decodeStoredTx(tx.bytes, scheme).id, tx.id);
});
