// A bit that changes on the disk while the store is open.
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { openLmdbStore } from '../../../src/adapters/lmdb/store.ts';
import { StoreCorruptError } from '../../../src/base/faults/store-damage.ts';
import { refusal } from '../../../src/rest-framework/answer.ts';
import { quiet } from '../../chain/chain-harness.ts';
import { storeTables } from '../../compliance/store-tables.ts';

const folder = mkdtempSync(join(tmpdir(), 'damage-'));
t.teardown(() => rmSync(folder, { recursive: true }));
const FROM = new Uint8Array(1);
const TO = new Uint8Array(4).fill(0xff);

t.test('a damaged row is refused, told once, and answered with 503', async (t) => {
  const told: string[] = [];
  const store = await openLmdbStore({
    folder,
    tables: storeTables,
    onDamage: ({ message }) => told.push(message),
  });
  const value = new TextEncoder().encode('the value of a row that is going to be damaged');
  const [good, bad] = [new Uint8Array([1]), new Uint8Array([2])];
  await store.write([
    { table: 1, key: good, value: new Uint8Array(40) },
    { table: 1, key: bad, value },
  ]);
  t.strictSame(store.get(1, bad), value);
  const path = join(folder, 'data.mdb');
  const at = readFileSync(path).lastIndexOf(value) + 5;
  // The store has the same pages mapped.
  const file = openSync(path, 'r+');
  writeSync(file, Uint8Array.of(value[5]! ^ 1), 0, 1, at);
  closeSync(file);

  t.throws(() => store.get(1, bad), StoreCorruptError);
  t.throws(() => [...store.range(1, FROM, TO, 10)], StoreCorruptError);
  t.strictSame(store.get(1, good), new Uint8Array(40), 'the others are read');
  t.equal(told.length, 1);
  t.equal(store.problem?.(), told[0]);
  const answer = refusal(new StoreCorruptError(folder, 'a row'), quiet, {
    where: 'GET /x',
    request: 'r',
  });
  t.equal(answer.status, 503);
  t.match(String(answer.body), /"error":640/);
  await store.close();
  await t.rejects(openLmdbStore({ folder, tables: storeTables }), StoreCorruptError);
});
