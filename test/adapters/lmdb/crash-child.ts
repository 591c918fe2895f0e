/** Writes until it is killed; prints what has been acknowledged. The crash tests start it. */
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { openJournal } from '../../../src/adapters/journal.ts';
import { openLmdbStore } from '../../../src/adapters/lmdb/store.ts';
import type { StoreWrite } from '../../../src/base/ports/store.ts';
import { storeTables } from '../../compliance/store-tables.ts';

const [what, folder] = process.argv.slice(2) as [string, string];
const say = (text: string | number): void => {
  for (;;) {
    try {
      writeSync(1, `${text}\n`);
      return;
    } catch (error) {
      // The reader is behind; what has been said before is in the pipe.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
  }
};
const u32 = (n: number): Uint8Array => {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, n);
  return bytes;
};

/** Every write moves all rows of two tables to the next number and adds a few. */
async function writeStore(): Promise<void> {
  const store = await openLmdbStore({ folder, tables: storeTables });
  const last = store.get(7, u32(0));
  let height = last === undefined ? 0 : new DataView(last.buffer).getUint32(0);
  say('open');
  for (;;) {
    height++;
    const writes: StoreWrite[] = [{ table: 7, key: u32(0), value: u32(height) }];
    for (let i = 0; i < 300; i++) {
      writes.push({ table: 1, key: u32(i), value: u32(height) });
      writes.push({ table: 2, key: u32(height * 1000 + i), value: u32(height) });
      writes.push({ table: 2, key: u32((height - 3) * 1000 + i), value: undefined });
    }
    await store.write(writes.filter(({ key }) => key.length === 4));
    say(height);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Ends the process while a large write is on its way; argument: milliseconds after its start. */
async function exitWhileWriting(ms: number): Promise<void> {
  const store = await openLmdbStore({ folder, tables: storeTables });
  say('open');
  const value = new Uint8Array(100);
  await store.write([{ table: 1, key: u32(0), value }]);
  const rows = Array.from({ length: 60_000 }, (_, i) => ({ table: 1, key: u32(i), value }));
  setTimeout(() => process.exit(0), ms);
  for (;;) await store.write(rows);
}

/** On a disk with little room: a write that does not fit, and one that does. */
async function fillDisk(): Promise<void> {
  const store = await openLmdbStore({ folder, tables: storeTables });
  const put = (key: number, length: number) => ({
    table: 1,
    key: u32(key),
    value: new Uint8Array(length),
  });
  await store.write([put(1, 1)]);
  say('open');
  await store.write([put(1, 2), put(2, 8_000_000)]).catch((error) => say(String(error)));
  say(String(store.problem?.()));
  say(store.get(1, u32(1))?.length ?? 0);
  await store.write([put(1, 3)]);
  say(store.get(1, u32(1))?.length ?? 0);
  say(String(store.problem?.()));
  await store.close();
}

async function writeJournal(): Promise<void> {
  const journal = openJournal({ path: join(folder, 'journal') });
  let next = journal.recovered.reduce(
    (max, r) => Math.max(max, new DataView(r.buffer).getUint32(0)),
    0,
  );
  say('open');
  const live = new Set<number>();
  const one = async (): Promise<never> => {
    for (;;) {
      const record = ++next;
      await journal.append(u32(record));
      live.add(record);
      say(record);
      if (record % 500 === 0) {
        const kept = [...live].filter((n) => n > record - 1000);
        await journal.rewrite(kept.map(u32));
      }
    }
  };
  await Promise.all(Array.from({ length: 8 }, one));
}

if (what === 'store') await writeStore();
else if (what === 'journal') await writeJournal();
else if (what === 'full') await fillDisk();
else await exitWhileWriting(Number(what.slice('exit-'.length)));
