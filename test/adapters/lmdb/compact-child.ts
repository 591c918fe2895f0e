/**
 * `compact FOLDER N`: compacts a store and dies as by kill -9 at its Nth call of the file system.
 * `read FOLDER`: holds the store open for reading until its input ends, then prints the sum of its rows.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { compactStore } from '../../../src/adapters/lmdb/compact.ts';
import { openReading } from '../../../src/adapters/lmdb/reading.ts';
import { END_OF_TABLE, START_OF_TABLE } from '../../../src/ledger/key-codecs.ts';
import { storeTables as tables } from '../../compliance/store-tables.ts';

const CHANGING = [
  'mkdirSync',
  'renameSync',
  'rmSync',
  'openSync',
  'closeSync',
  'fsyncSync',
  'fchmodSync',
  'writeFileSync',
  'ftruncateSync',
] as const;

const [what, folder = '', n] = process.argv.slice(2);
if (what === 'compact') {
  dieAt(Number(n));
  await compactStore({ folder, tables }, async () => {});
} else {
  const reading = await openReading({ folder, tables });
  process.stdout.write('open\n');
  for await (const _ of process.stdin);
  let sum = 0;
  for (const { id } of tables) {
    for (const [, value] of reading.view.range(id, START_OF_TABLE, END_OF_TABLE, 1e9)) {
      sum += value[0] ?? 0;
    }
  }
  await reading.close();
  process.stdout.write(`${sum}\n`);
}

function dieAt(call: number): void {
  let calls = 0;
  const functions = fs as unknown as Record<string, (...args: unknown[]) => unknown>;
  for (const name of CHANGING) {
    const real = functions[name]!;
    functions[name] = (...args) => {
      calls += 1;
      if (calls === call) process.kill(process.pid, 'SIGKILL');
      return real(...args);
    };
  }
  syncBuiltinESMExports();
}
