// A journal whose file is damaged: what is left, the copy that is kept, and a disk without room.
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import t from 'tap';
import { COPIES_MAX } from '../../src/adapters/damaged-copies.ts';
import { type DiskJournal, openJournal } from '../../src/adapters/journal.ts';
import { HEADER_BYTES } from '../../src/adapters/journal-header.ts';

const root = mkdtempSync(join(tmpdir(), 'journal-'));
t.teardown(() => rmSync(root, { recursive: true }));
let folders = 0;
function fresh(): string {
  const folder = join(root, `${++folders}`);
  mkdirSync(folder);
  return join(folder, 'pool.journal');
}

const record = (text: string): Uint8Array => new TextEncoder().encode(text.padEnd(50, '.'));
const textsOf = ({ recovered }: DiskJournal): string[] =>
  recovered.map((one) => new TextDecoder().decode(one).replace(/\.*$/, ''));
const ALL = ['one', 'two', 'three', 'four', 'five'];
const PAGE_BYTES = 4096;

/** A journal with these records, each written alone. */
async function made(path: string, texts = ALL): Promise<Buffer> {
  const journal = openJournal({ path });
  for (const text of texts) await journal.append(record(text));
  await journal.close();
  return readFileSync(path);
}

async function opened(path: string): Promise<DiskJournal> {
  const journal = openJournal({ path });
  await journal.close();
  return journal;
}

/** The bytes of a journal with two records beside each other destroyed. */
function withDamage(bytes: Buffer, first = 1): Buffer {
  const frame = bytes.indexOf(record(ALL[first]!)) - 8;
  const end = bytes.indexOf(record(ALL[first + 1]!)) + 10;
  return Buffer.from(bytes).fill(0, frame, end);
}

t.test('two damaged neighbours cost no other record, and a copy is kept', async (t) => {
  const path = fresh();
  const damaged = withDamage(await made(path));
  writeFileSync(path, damaged);
  const first = openJournal({ path });
  t.strictSame(textsOf(first), ['one', 'four', 'five']);
  const { kept } = first.findings;
  t.match(first.findings, { places: 1, restored: 0, unfinishedBytes: 0 });
  t.ok(first.findings.bytes > 0);
  t.equal(kept, `${path}.damaged-1`);
  t.ok(readFileSync(String(kept)).equals(damaged), 'as it was found');
  for (const one of [path, String(kept)]) t.equal(statSync(one).mode & 0o777, 0o600);
  await first.append(record('six'));
  await first.close();

  const second = await opened(path);
  t.strictSame(textsOf(second), ['one', 'four', 'five', 'six']);
  t.equal(second.damagedPlaces, 0, 'it is found once');
  t.strictSame(readdirSync(dirname(path)), ['pool.journal', 'pool.journal.damaged-1']);
});

t.test('of many damages the newest copies are kept', async (t) => {
  const path = fresh();
  for (let i = 1; i <= COPIES_MAX + 2; i++) {
    rmSync(path, { force: true });
    writeFileSync(path, withDamage(await made(path)));
    t.equal((await opened(path)).findings.kept, `${path}.damaged-${i}`);
  }
  const names = [3, 4, 5].map((n) => `pool.journal.damaged-${n}`);
  t.strictSame(readdirSync(dirname(path)), ['pool.journal', ...names]);
});

t.test('a torn end is no damage: no copy, and the rest is used', async (t) => {
  const path = fresh();
  const bytes = await made(path);
  writeFileSync(path, bytes.subarray(0, bytes.indexOf(record('five')) + 20));
  const journal = await opened(path);
  t.strictSame(textsOf(journal), ['one', 'two', 'three', 'four']);
  t.equal(journal.damagedPlaces, 0);
  t.ok(journal.findings.unfinishedBytes > 20);
  t.strictSame(readdirSync(dirname(path)), ['pool.journal']);
});

t.test('the header survives the loss of all its copies but one', async (t) => {
  const path = fresh();
  const bytes = await made(path);
  const copies = HEADER_BYTES / PAGE_BYTES;
  for (let whole = 0; whole < copies; whole++) {
    const damaged = Buffer.from(bytes);
    for (let i = 0; i < copies; i++) {
      if (i !== whole) damaged.fill(0, i * PAGE_BYTES, (i + 1) * PAGE_BYTES);
    }
    writeFileSync(path, damaged);
    const journal = await opened(path);
    t.strictSame(textsOf(journal), ALL);
    t.equal(journal.damagedPlaces, copies - 1);
    t.equal((await opened(path)).damagedPlaces, 0, 'all copies are there again');
  }
  const lost = Buffer.from(bytes).fill(0, 0, HEADER_BYTES);
  writeFileSync(path, lost);
  const journal = await opened(path);
  t.strictSame(textsOf(journal), []);
  t.equal(journal.findings.bytes, lost.length);
  t.ok(readFileSync(String(journal.findings.kept)).equals(lost));
});

t.test('a file of the first format', async (t) => {
  const frame = (text: string): Buffer => {
    const bytes = Buffer.alloc(8);
    bytes.writeUInt32BE(record(text).length);
    const sum = crc32(record(text), crc32(bytes.subarray(0, 4)));
    bytes.writeUInt32BE(sum, 4);
    return Buffer.concat([bytes, record(text)]);
  };
  const path = fresh();
  const whole = Buffer.concat(ALL.map(frame));
  writeFileSync(path, whole);
  const journal = openJournal({ path });
  t.strictSame(textsOf(journal), ALL);
  t.equal(journal.damagedPlaces, 0);
  await journal.append(record('six'));
  await journal.close();
  t.strictSame(textsOf(await opened(path)), [...ALL, 'six']);
  t.strictSame(readdirSync(dirname(path)), ['pool.journal'], 'it is replaced');

  const single = Buffer.concat([...ALL.map(frame)]).fill(1, 70, 80);
  writeFileSync(path, single);
  t.strictSame(
    textsOf(await opened(path)),
    ALL.filter((text) => text !== 'two'),
  );
  const length = Buffer.from(whole).fill(1, 58, 59);
  writeFileSync(path, length);
  t.strictSame(textsOf(await opened(path)), ALL, 'a flipped bit of a length');
  writeFileSync(path, withDamage(whole));
  const damaged = await opened(path);
  t.strictSame(textsOf(damaged), ['one'], 'what follows could be bytes of a record');
  t.equal(damaged.damagedPlaces, 1);
  t.ok(readFileSync(String(damaged.findings.kept)).equals(withDamage(whole)));
});

const disk = join(root, 'disk');
mkdirSync(disk);
function mounted(): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk], { stdio: 'ignore' });
    t.teardown(() => execFileSync('umount', ['--lazy', disk]));
    return true;
  } catch {
    return false;
  }
}

const skip = mounted() ? false : 'no file system can be mounted here';

t.test('on a full disk the damaged file stays in use until there is room', { skip }, async (t) => {
  const path = join(disk, 'pool.journal');
  const damaged = withDamage(await made(path));
  writeFileSync(path, damaged);
  const ballast = join(disk, 'ballast');
  const { bavail, bsize } = statfsSync(disk);
  writeFileSync(ballast, new Uint8Array(bavail * bsize));

  const journal = openJournal({ path });
  t.strictSame(textsOf(journal), ['one', 'four', 'five']);
  t.match(journal.findings, { places: 1, notReplaced: /ENOSPC/ });
  t.equal(journal.findings.kept, undefined);
  await journal.append(record('six'));
  await t.rejects(journal.rewrite([record('six')]), { code: 'ENOSPC' });
  t.strictSame(readdirSync(disk), ['ballast', 'pool.journal'], 'no remains');
  const grown = readFileSync(path);
  rmSync(ballast);
  await journal.rewrite([record('four'), record('six')]);
  t.ok(readFileSync(`${path}.damaged-1`).equals(grown), 'kept before it is replaced');
  await journal.rewrite([record('six')]);
  await journal.close();
  t.notOk(existsSync(`${path}.damaged-2`), 'once');
  const later = await opened(path);
  t.strictSame(textsOf(later), ['six']);
  t.equal(later.damagedPlaces, 0);
});
