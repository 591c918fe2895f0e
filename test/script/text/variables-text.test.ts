/** What a refusal shows of the variables is bounded, whatever a script does. */
import t from 'tap';
import { UNMETERED } from '../../../src/script/evaluation/meter.ts';
import type { Tree } from '../../../src/script/language/tree.ts';
import { caseObject, type Value } from '../../../src/script/language/values.ts';
import { valueText } from '../../../src/script/text/tree-text.ts';
import { type ShownVariable, shownVariables } from '../../../src/script/text/variables-text.ts';
import { block, call, long, name, ran, TRUE, text, worlds } from '../world.ts';

const lengthOf = (shown: readonly ShownVariable[]): number => JSON.stringify(shown).length;
const LENGTH_MAX = 100_000;

t.test('one failure is shown for each variable that waits for it', async (t) => {
  const { memory: env } = await worlds(t);
  let tree: Tree = name('x599');
  for (let i = 599; i > 0; i--) tree = block(`x${i}`, name(`x${i - 1}`), tree);
  tree = block('x0', call(2, text('€'.repeat(32_767))), tree);
  const shown = shownVariables(ran(tree, env).variables());
  t.match(shown[0], { name: 'x0', error: /^€{1200}$/ });
  t.equal(shown[54]?.name, 'x54');
  t.same(shown.at(-1), { name: '…', value: `${600 - (shown.length - 1)} more variables` });
  t.ok(lengthOf(shown) < LENGTH_MAX, `${lengthOf(shown)} characters`);
});

t.test('records that share parts', async (t) => {
  let value: Value = 1n;
  for (let i = 0; i < 500; i++) {
    value = caseObject('Transfer', { recipient: value, amount: value });
  }
  t.match(valueText(value), /^(Transfer\(recipient=){50,}/);
  t.equal(valueText(value).length, 1201);
  const shown = shownVariables(Array.from({ length: 600 }, (_, i) => ({ name: `x${i}`, value })));
  t.ok(lengthOf(shown) < LENGTH_MAX);
});

t.test('half of a character is shown as one that stands for any', async (t) => {
  const { memory: env } = await worlds(t);
  const half = call(303, text('😀'), long(1));
  const { result, variables } = ran(block('x', half, call(2, name('x'))), env);
  t.match(result, { message: '\u{FFFD}' });
  t.same(shownVariables(variables()), [{ name: 'x', value: 'CONST_STRING(\u{FFFD})' }]);
  t.equal(valueText(`${'x'.repeat(1186)}😀`), `CONST_STRING(${'x'.repeat(1186)}\u{FFFD}…`);
  const failing = block('x', call(2, text(`${'x'.repeat(1199)}😀`)), name('x'));
  t.same(shownVariables(ran(failing, env).variables()), [
    { name: 'x', error: `${'x'.repeat(1199)}\u{FFFD}` },
  ]);
});

t.test('few variables are shown in full', async (t) => {
  const { memory: env } = await worlds(t);
  const tree = block(
    'x',
    TRUE,
    block('y', call('Alias', name('x')), call(0, name('y'), name('x'))),
  );
  t.same(shownVariables(ran(tree, env, UNMETERED).variables()), [
    { name: 'x', value: 'TRUE' },
    { name: 'y', value: 'Alias(alias=TRUE)' },
  ]);
});

t.test('the text of a value is cut where it was', async (t) => {
  const bytes = (size: number): Value => new Uint8Array(size).fill(7);
  const record = caseObject('Order', {
    id: bytes(300),
    sender: 'x'.repeat(900),
    proofs: [bytes(400)],
  });
  const whole = `Order(id=CONST_BYTEVECTOR(ByteVector(300 bytes, 0x${'07'.repeat(300)})), sender=CONST_STRING(${'x'.repeat(900)}`;
  t.equal(valueText(record), `${whole.slice(0, 1200)}…`);
  t.equal(
    valueText(['x'.repeat(1180), 1n, 2n]),
    `List(CONST_STRING(${'x'.repeat(1180)}), …`.replace('), …', '),…'),
  );
});

t.test('of long bytes only a part is hashed', async (t) => {
  const long = new Uint8Array(65_536);
  const other = long.slice();
  other[8192] = 1;
  t.equal(valueText(long), valueText(other));
  other[8191] = 1;
  t.not(valueText(long), valueText(other));
});
