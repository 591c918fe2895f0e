/** Writes until it is killed; prints what has been acknowledged. Started by the crash tests. */
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { openJournal } from '../../src/adapters/journal.ts';
import { openLmdbStore } from '../../src/adapters/lmdb.ts';
import type { StoreWrite } from '../../src/base/ports.ts';
import { storeTables } from '../compliance/store.ts';

const [what, folder] = process.argv.slice(2) as [string, string];
const say = (text: string | number): void => {
  writeSync(1, `${text}\n`);
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

await (what === 'store' ? writeStore() : writeJournal());
