/** A block has room for the scripts that people write, in the cryptography of each family. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { base58 } from '../../src/base/base58.ts';
import { BLOCK_SCRIPT_UNITS_MAX, SCRIPT_RUNS_MAX } from '../../src/block/block.ts';
import { createChainScheme } from '../../src/crypto/chain-scheme.ts';
import { createFamily, familyNames } from '../../src/crypto/families.ts';
import { Meter, OutOfUnits, RUN_UNITS_MAX } from '../../src/script/evaluation/meter.ts';
import type { Context } from '../../src/script/language/tree.ts';
import { createScripts } from '../../src/script/script.ts';
import { recordOf } from '../../src/tx/scripts/records.ts';
import { environmentOf } from '../../src/tx/scripts/script-environment.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { buildTx, signedBytes } from '../../src/tx/tx-bytes.ts';
import { transfer } from '../../src/tx/types/004-transfer.ts';
import { data } from '../../src/tx/types/012-data.ts';
import { seededRandom } from '../crypto/random.ts';

const view = { get: () => undefined, *range() {} };
const NONE = new Uint8Array(0);
const examples: readonly (readonly [string, Context])[] = [
  ['two-of-three.ride', 'account'],
  ['listed-holders.ride', 'asset'],
  ['oracle.ride', 'account'],
];

for (const name of familyNames) {
  const family = createFamily(name);
  const scheme = createChainScheme(family, 84);
  const scripts = createScripts(family.secureHash);
  const people = Array.from({ length: 8 }, (_, i) => family.keyPairFromPhrase(`person ${i}`));
  const [{ publicKey }] = people as [(typeof people)[0]];

  const signed = (def: unknown, layout: number, fields: object): Tx => {
    const type = def as typeof transfer;
    const values = { senderPublicKey: publicKey, timestamp: 1, fee: 1n, ...fields } as never;
    const build = (proofs: readonly Uint8Array[]) =>
      buildTx(type, type.layouts[layout]!, values, proofs, scheme);
    const message = signedBytes(build([]));
    const random = seededRandom('budgets');
    const proofs = people.map(({ privateKey }) => family.sign(privateKey, message, random));
    return build(proofs) as unknown as Tx;
  };
  const payment = signed(transfer, 1, {
    amount: 1n,
    recipient: { kind: 'address', bytes: scheme.addressOf(publicKey) },
    attachment: NONE,
  });
  const long = signed(data, 0, {
    authorPublicKey: publicKey,
    data: Array.from({ length: 100 }, (_, i) => ({
      key: `key ${i}`,
      type: 'binary' as const,
      value: new Uint8Array(1500),
    })),
  });

  const ran = (source: string, tx: Tx, context: Context = 'account') => {
    const meter = new Meter(RUN_UNITS_MAX);
    const env = environmentOf(
      { view: { ...view, scheme } as never, height: 100, find: () => undefined },
      context,
      () => recordOf(tx, scheme, context)!,
      (message, signature, by) => scheme.verify(by, message, signature),
    );
    const { result } = scripts.compile(source, context).program.run(env, meter);
    return { result, units: meter.used };
  };
  const used = (source: string, tx: Tx): number => {
    const { result, units } = ran(source, tx);
    t.equal(result, true);
    return units;
  };
  const check = (i: number): string =>
    `sigVerify(tx.bodyBytes, tx.proofs[${i}], base58'${base58.encode(people[i]!.publicKey)}')`;
  const all = (count: number): string =>
    Array.from({ length: count }, (_, i) => check(i)).join(' && ');
  const twoOfThree = [0, 1, 2].map((i) => `let v${i} = if ${check(i)} then 1 else 0\n`).join('');

  t.test(`${name}: scripts of many keys`, async (t) => {
    const room = BLOCK_SCRIPT_UNITS_MAX / SCRIPT_RUNS_MAX;
    const [few, many] = [used(`${twoOfThree}v0 + v1 + v2 >= 2`, payment), used(all(8), payment)];
    t.ok(few < room / 3, `2 of 3: ${few} of ${room} units`);
    t.ok(many < room, `8 of 8: ${many}`);
    const most = used(all(8), long);
    t.ok(
      long.bytes.length > 150_000 && most < RUN_UNITS_MAX,
      `of the largest transaction: ${most}`,
    );
  });

  t.test(`${name}: the examples`, async (t) => {
    const key = base58.encode(publicKey);
    const address = scheme.addressToText(scheme.addressOf(publicKey));
    for (const [file, context] of examples) {
      const source = readFileSync(
        new URL(`../../examples/scripts/${file}`, import.meta.url),
        'utf8',
      )
        .replaceAll(/'(ALICE|BOB|CAROL|ORACLE)'/g, `'${key}'`)
        .replaceAll('ISSUER', address);
      const { result, units } = ran(source, payment, context);
      t.equal(typeof result, 'boolean');
      t.ok(units < BLOCK_SCRIPT_UNITS_MAX / SCRIPT_RUNS_MAX / 3, `${file}: ${units} units`);
    }
  });

  t.test(`${name}: the costliest script of long hashes ends early`, async (t) => {
    const doubled = Array.from({ length: 6 }, (_, i) => `let b${i + 1} = b${i} + b${i}\n`).join('');
    const zeros = Buffer.alloc(1024).toString('base64');
    const source = `let b0 = base64'${zeros}'\n${doubled}${Array(55).fill('keccak256(b6) == b0 || secureHash(b6) == b0').join(' || ')}`;
    const { result, units } = ran(source, payment);
    // 55 × (4,636 + 2,086) units fit into the budget of a run, 55 × (4,636 + 30,748) do not.
    t.equal(result instanceof OutOfUnits, name === 'gost');
    t.ok(units <= RUN_UNITS_MAX, `${units} units`);
  });
}
