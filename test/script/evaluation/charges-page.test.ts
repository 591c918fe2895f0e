/** The page of the protocol shows every charge as the code has it. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import type { Charge } from '../../../src/base/charge.ts';
import { BLOCK_SCRIPT_UNITS_MAX } from '../../../src/block/block.ts';
import { createFamily, familyNames } from '../../../src/crypto/families.ts';
import {
  ADDRESS_HASHES,
  BYTES_CHARGE,
  DECODED_CHARGE,
  ELEMENT_UNITS,
  NODE_UNITS,
  pieces,
  RECORD_ADDRESSES,
  RECORD_UNITS,
  ROW_UNITS,
  SCRIPT_CHARGE,
  SHORT_BYTES,
  STEP_UNITS,
  sum,
  TEXT_CHARGE,
} from '../../../src/script/evaluation/charges.ts';
import {
  type Builtin,
  builtins,
  CONSTRUCTOR_CHARGE,
} from '../../../src/script/evaluation/functions.ts';
import { RUN_UNITS_MAX } from '../../../src/script/evaluation/meter.ts';

const page = readFileSync(new URL('../../../docs/protocol/scripts.md', import.meta.url), 'utf8');

const text = (charge: Charge, of: string): string => sum(charge.fixed, pieces(charge, of));

const called = ({ header, name }: Builtin): string =>
  typeof header === 'number' ? `N ${header} \`${name}\`` : `U \`${header}\``;

/** The functions with one charge stand in one row, at the place of the first of them. */
function functionRows(): readonly string[] {
  const groups = Map.groupBy(builtins, ({ charge }) => charge.text);
  const rows = [...groups].map(([units, all]) => `| ${all.map(called).join(', ')} | ${units} |`);
  return [...rows, `| U name of a record | ${text(CONSTRUCTOR_CHARGE, 'arguments')} |`];
}

const partRows: readonly string[] = [
  `| node | ${NODE_UNITS} |`,
  `| reading | ${text(SCRIPT_CHARGE, 'bytes')} + hash of its bytes + ${STEP_UNITS} × steps |`,
  `| script | ${text(SCRIPT_CHARGE, 'bytes')} |`,
  `| row | ${ROW_UNITS} |`,
  `| value | of a text ${text(TEXT_CHARGE, 'code units')}, of a byte string ${text(BYTES_CHARGE, 'bytes')}, else 0 |`,
  `| address | ${ADDRESS_HASHES} × hash of ${SHORT_BYTES} bytes |`,
  `| transaction | ${text(DECODED_CHARGE, 'bytes')} + hash of its bytes, then its elements, and address for each of them that is a transfer, a recipient or an owner |`,
  `| record | ${RECORD_UNITS} + ${RECORD_ADDRESSES} × address |`,
  `| element | ${ELEMENT_UNITS} |`,
];

const familyRows: readonly string[] = familyNames.map((name) => {
  const { title, charges } = createFamily(name);
  return `| ${title} | ${text(charges.hash, 'bytes')} | ${text(charges.verify, 'bytes')} |`;
});

/** The rows of the table below a heading line. */
function tableBelow(head: string): readonly string[] {
  const lines = page.split('\n');
  const from = lines.indexOf(head);
  const rows = lines.slice(from + 2);
  return rows.slice(
    0,
    rows.findIndex((line) => !line.startsWith('|')),
  );
}

t.test('the tables', async (t) => {
  t.strictSame(tableBelow('| Part | Units |'), partRows);
  t.strictSame(tableBelow('| Family | Hash | Signature |'), familyRows);
  t.strictSame(tableBelow('| Function | Units besides its node |'), functionRows());
});

t.test('the budgets', async (t) => {
  const number = (units: number): string => units.toLocaleString('en-US');
  t.match(page, new RegExp(`\\*\\*${number(RUN_UNITS_MAX)}\\*\\*\\s+units`));
  t.match(page, new RegExp(`\\*\\*${number(BLOCK_SCRIPT_UNITS_MAX)}\\*\\*\\s+units`));
});

t.test('every charge is a number of units', async (t) => {
  const charges = familyNames.map((name) => createFamily(name).charges);
  const args = ['x'.repeat(1001), new Uint8Array(1001), 5n, true, [1n, 2n]];
  for (const { charge, header } of builtins) {
    for (const family of charges) {
      for (const arg of args) {
        const units = [charge.before([arg, arg, arg], family), charge.after?.(arg) ?? 0];
        if (units.some((n) => !Number.isSafeInteger(n) || n < 0)) t.fail(`${header}: ${units}`);
      }
    }
  }
});

t.test('a call that always charges the same charges what the page says', async (t) => {
  const flat = builtins.filter(({ charge }) => /^\d+$/.test(charge.text));
  t.ok(flat.length > 20);
  const { charges } = createFamily(familyNames[0]!);
  for (const { name, charge } of flat) {
    t.equal(charge.before([], charges), Number(charge.text), name);
    t.equal(charge.after, undefined);
  }
});
