import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import t from 'tap';
import { openJournal } from '../../src/adapters/journal.ts';
import { FRAME_BYTES } from '../../src/adapters/journal-frames.ts';
import { HEADER_BYTES } from '../../src/adapters/journal-header.ts';
import { JournalFullError, JournalTooLongError } from '../../src/base/faults/journal-full.ts';
import { childEnvironment } from '../child-environment.ts';

const folder = mkdtempSync(join(tmpdir(), 'journal-'));
t.teardown(() => rmSync(folder, { recursive: true }));
let files = 0;
const fresh = (): string => join(folder, `${++files}`, 'journal');

/** A prime, so that all bits of a byte have their turn. */
const STEP = 11;

const record = (text: string): Uint8Array => new TextEncoder().encode(text);
const texts = (records: readonly Uint8Array[]): string[] =>
  records.map((one) => new TextDecoder().decode(one));

async function read(path: string): Promise<string[]> {
  const journal = openJournal({ path });
  await journal.close();
  return texts(journal.recovered);
}

/** The records of a second start, which finds no damage any more. */
async function again(path: string): Promise<readonly Uint8Array[]> {
  const journal = openJournal({ path });
  await journal.close();
  const { damagedPlaces, findings } = journal;
  if (damagedPlaces !== 0) throw new Error(`found again: ${JSON.stringify(findings)}`);
  return journal.recovered;
}

t.test('records come back in order, whatever they are', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 20 }),
      fc.nat(20),
      async (records, split) => {
        const path = fresh();
        const first = openJournal({ path });
        await Promise.all(records.slice(0, split).map((one) => first.append(one)));
        await first.close();
        const second = openJournal({ path });
        for (const one of records.slice(split)) await second.append(one);
        await second.close();
        const third = openJournal({ path });
        await third.close();
        const hex = (all: readonly Uint8Array[]) => all.map((b) => Buffer.from(b).toString('hex'));
        if (hex(third.recovered).join() !== hex(records).join()) throw new Error('differs');
      },
    ),
    { numRuns: 20 },
  );
  t.pass();
});

t.test('a file cut at any byte gives the whole records before the cut', async (t) => {
  const path = fresh();
  const journal = openJournal({ path });
  const ends = [statSync(path).size];
  const all = ['one', '', 'three', 'x'.repeat(40)];
  for (const text of all) {
    await journal.append(record(text));
    ends.push(statSync(path).size);
  }
  await journal.close();
  const bytes = readFileSync(path);
  for (let cut = ends[0]!; cut < bytes.length; cut++) {
    const whole = ends.filter((end) => end <= cut).length - 1;
    for (const tail of ['', '\0\0\0\0\0\0\0\0\0\0\0\0', '\xff\xff\xff\xff\xff\xff\xff\xff\xff']) {
      // A full file with a tail too: zeros after the end are what some crashes leave.
      if (cut === ends[whole] || tail === '') {
        writeFileSync(path, Buffer.concat([bytes.subarray(0, cut), Buffer.from(tail, 'latin1')]));
        const opened = openJournal({ path });
        const size = statSync(path).size;
        await opened.close();
        const found = texts(opened.recovered);
        if (found.join('|') !== all.slice(0, whole).join('|')) t.fail(`cut at ${cut}: ${found}`);
        if (size !== ends[whole]) t.fail(`size after a cut at ${cut}`);
        const { findings } = opened;
        if (findings.places + findings.restored > 0) t.fail(`damage after a cut at ${cut}`);
      }
    }
  }
  t.pass();
});

t.test('a flipped bit costs one record at most, and not those behind it', async (t) => {
  const path = fresh();
  const first = openJournal({ path });
  const all = ['one', 'the second', '', 'four'];
  for (const text of all) await first.append(record(text));
  await first.close();
  const bytes = readFileSync(path);
  // Every bit of the frames is in test/adapters/journal-frames.test.ts.
  for (let bit = HEADER_BYTES * 8; bit < (bytes.length - FRAME_BYTES) * 8; bit += STEP) {
    const flipped = Buffer.from(bytes);
    flipped[bit >>> 3] = flipped[bit >>> 3]! ^ (1 << (bit & 7));
    writeFileSync(path, flipped);
    const journal = openJournal({ path });
    const found = texts(journal.recovered);
    await journal.close();
    const isRight = found.every((text) => all.includes(text));
    if (!isRight || found.length < all.length - 1) t.fail(`bit ${bit}: ${found.join()}`);
    if (journal.damagedPlaces !== 1) t.fail(`bit ${bit} is not reported`);
    const later = texts(await again(path));
    if (later.join() !== found.join()) t.fail(`bit ${bit}: ${later.join()} at the next start`);
  }
  writeFileSync(path, bytes);
  t.strictSame(await read(path), all);
});

t.test('what is appended after a torn tail was cut off is found', async (t) => {
  const path = fresh();
  let journal = openJournal({ path });
  await journal.append(record('a'));
  await journal.close();
  appendFileSync(path, 'torn');
  journal = openJournal({ path });
  await journal.append(record('b'));
  await journal.close();
  t.strictSame(await read(path), ['a', 'b']);
});

t.test('an append is on disk when it resolves, in the order of the calls', async (t) => {
  const path = fresh();
  const journal = openJournal({ path });
  const resolved: number[] = [];
  let behind = 0;
  await Promise.all(
    Array.from({ length: 500 }, async (_, i) => {
      if (i % 50 === 0) await new Promise((resolve) => setTimeout(resolve, i / 50));
      await journal.append(record(`${i}`));
      resolved.push(i);
      // All earlier ones are there too, and their records have at least a byte.
      if (statSync(path).size < resolved.length * (FRAME_BYTES + 1)) behind++;
    }),
  );
  await journal.close();
  t.equal(behind, 0);
  t.strictSame(await read(path), resolved.map(String), 'file order is order of resolution');
});

t.test('a rewrite replaces everything and loses nothing that was not yet durable', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(5), { maxLength: 40 }), async (steps) => {
      const path = fresh();
      const journal = openJournal({ path });
      const pending: Promise<void>[] = [];
      let name = 0;
      /** Resolved before the last rewrite was called, so that it may leave them out. */
      let durable = new Set<string>();
      const expected = new Set<string>();
      const gone = new Set<string>();
      for (const step of steps) {
        if (step < 4) {
          const text = `${name++}`;
          expected.add(text);
          pending.push(
            journal.append(record(text)).then(() => {
              durable.add(text);
            }),
          );
        } else if (step === 4) {
          const kept = [...durable].filter((text) => Number(text) % 2 === 0);
          for (const text of durable) if (!kept.includes(text)) gone.add(text);
          for (const text of gone) expected.delete(text);
          durable = new Set(kept);
          pending.push(journal.rewrite(kept.map(record)));
        } else {
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
      }
      await Promise.all(pending);
      await journal.close();
      const found = await read(path);
      for (const text of expected) if (!found.includes(text)) throw new Error(`lost ${text}`);
      for (const text of found) if (!expected.has(text)) throw new Error(`kept ${text}`);
    }),
    { numRuns: 40 },
  );
  t.pass();
});

t.test('a rewrite carries over more than its own buffer holds', async (t) => {
  const path = fresh();
  const journal = openJournal({ path });
  const big = 'x'.repeat(100_000);
  const flying = journal.append(record(big));
  // The first group is now on its way to the disk.
  await new Promise((resolve) => setImmediate(resolve));
  await Promise.all([flying, journal.rewrite([record('a')])]);
  await journal.close();
  t.strictSame(await read(path), ['a', big]);
});

t.test('a rewrite takes its records in pieces', async (t) => {
  const path = fresh();
  const journal = openJournal({ path });
  const long = Array.from({ length: 40 }, (_, i) => `${i}`.padEnd(100_000, '.'));
  let taken = 0;
  function* records() {
    for (const text of long) {
      taken++;
      yield record(text);
    }
  }
  const rewritten = journal.rewrite(records());
  t.equal(taken, 0, 'none before its turn');
  const behind = journal.append(record('b'));
  await Promise.all([rewritten, behind]);
  await journal.close();
  t.strictSame(await read(path), [...long, 'b']);
});

t.test('a rewrite that cannot be written leaves the old file in use', async (t) => {
  const path = fresh();
  const journal = openJournal({ path });
  await journal.append(record('a'));
  mkdirSync(`${path}.tmp`);
  await t.rejects(journal.rewrite([record('z')]), { code: 'EEXIST' });
  await journal.append(record('b'));
  rmdirSync(`${path}.tmp`);
  await journal.rewrite([record('c')]);
  await journal.append(record('d'));
  await journal.close();
  t.strictSame(await read(path), ['c', 'b', 'd'], 'b had only just resolved');
});

t.test('a full disk refuses a record, and takes a shorter one later', async (t) => {
  const path = fresh();
  const child = fileURLToPath(new URL('journal-child.ts', import.meta.url));
  // The shell's limit counts blocks of 512 or 1024 bytes; the long record has 8 MB.
  const limited = ['-c', 'ulimit -f 4000 && exec "$0" "$@"', process.execPath, child, path];
  const { stdout } = spawnSync('sh', limited, { env: childEnvironment(), encoding: 'utf8' });
  t.equal(stdout, 'written,EFBIG,written');
  t.strictSame(await read(path), ['a', 'b']);
});

t.test('bytes that wait are bounded', async (t) => {
  const journal = openJournal({ path: fresh(), pendingBytesMax: 1000 });
  const outcomes = await Promise.allSettled(
    Array.from({ length: 20 }, () => journal.append(new Uint8Array(100 - FRAME_BYTES))),
  );
  t.strictSame(
    outcomes.map(({ status }) => status),
    [...Array(10).fill('fulfilled'), ...Array(10).fill('rejected')],
  );
  t.ok(outcomes.every((o) => o.status === 'fulfilled' || o.reason instanceof JournalFullError));
  await journal.append(new Uint8Array(1000 - FRAME_BYTES));
  await t.rejects(journal.append(new Uint8Array(1001 - FRAME_BYTES)), JournalFullError);
  await journal.close();
});

t.test('a file never becomes longer than a start can read', async (t) => {
  const path = fresh();
  const journal = openJournal({ path, fileBytesMax: 200_000 });
  await journal.append(new Uint8Array(100_000));
  await t.rejects(journal.append(new Uint8Array(100_000)), /would exceed 200000 bytes/);
  await journal.append(new Uint8Array(10_000));
  await journal.rewrite([record('a')]);
  await journal.append(new Uint8Array(140_000));
  await journal.close();
  const { recovered, close } = openJournal({ path });
  t.same(
    recovered.map(({ length }) => length),
    [1, 10_000, 140_000],
    'a rewritten one has room again',
  );
  await close();
  const long = openJournal({ path: fresh(), fileBytesMax: 200_000 });
  await long.append(record('a'));
  const records = Array.from({ length: 3 }, () => new Uint8Array(100_000));
  await t.rejects(long.rewrite(records), JournalTooLongError);
  await long.append(record('b'));
  await long.close();
});

t.test('closing finishes what was accepted and refuses the rest', async (t) => {
  const path = fresh();
  const journal = openJournal({ path });
  const last = Promise.all([journal.append(record('a')), journal.rewrite([record('b')])]);
  const closed = journal.close();
  await t.rejects(journal.append(record('c')), /closed/);
  await t.rejects(journal.rewrite([]), /closed/);
  await closed;
  await last;
  await journal.close();
  t.strictSame(await read(path), ['b', 'a']);
});
