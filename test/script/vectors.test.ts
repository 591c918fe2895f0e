/** Scripts of an independent implementation: bytes, complexity, texts, refusals and verdicts. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { generalHashes } from '../../src/crypto/general-hashes.ts';
import { builtins, costOf } from '../../src/script/evaluation/functions.ts';
import { RUN_UNITS_MAX } from '../../src/script/evaluation/meter.ts';
import { caseTypes } from '../../src/script/language/case-types.ts';
import { testVectors, type VectorFile } from '../../src/script/vector-file.ts';
import { family } from '../generators/network.ts';

const file = JSON.parse(
  readFileSync(new URL('../vectors/scripts.json', import.meta.url), 'utf8'),
) as VectorFile & {
  readonly costs: Readonly<Record<'functions' | 'constructors', Record<string, number>>>;
};
const hashes = { ...generalHashes, secureHash: family.secureHash, charges: family.charges };
const verify = (message: Uint8Array, signature: Uint8Array, publicKey: Uint8Array) =>
  family.verify(publicKey, message, signature);

t.test('every case gives what it should', async (t) => {
  const { cases, failing, unitsMax } = testVectors(file, hashes, verify);
  t.equal(cases, 147);
  t.strictSame(failing, []);
  t.ok(unitsMax > 0 && unitsMax <= RUN_UNITS_MAX / 10, `${unitsMax} units at most`);
});

t.test('every function and constructor has its cost', async (t) => {
  const functions = builtins.map(({ header, cost }) => [String(header), cost]);
  t.strictSame(Object.fromEntries(functions), file.costs.functions);
  const names = [...caseTypes('account').constructors.keys()];
  t.strictSame(
    Object.fromEntries(names.map((name) => [name, costOf(name)])),
    file.costs.constructors,
  );
});
