/** Confidential data as files, against real folders, a full disk and kill -9. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { filesShelf } from '../../src/adapters/private-store/files-shelf.ts';
import { verifiedStore } from '../../src/adapters/private-store/verified.ts';
import { base58 } from '../../src/base/base58.ts';
import type { PrivateItem } from '../../src/base/ports/private-store.ts';
import { childEnvironment } from '../child-environment.ts';
import {
  contentOf,
  holds,
  inPieces,
  itemOf,
  privateStoreCompliance,
} from '../compliance/private-store.ts';
import { memoryLog } from '../node/memory-ports.ts';

const root = mkdtempSync(join(tmpdir(), 'private-files-'));
t.teardown(() => rmSync(root, { recursive: true }));
const CHILD = new URL('private-files-child.ts', import.meta.url).pathname;
const KILLS = 4;

const pathOf = (folder: string, { policyId, hash }: PrivateItem): string =>
  join(folder, base58.encode(policyId), base58.encode(hash));
const unfinished = (folder: string): string[] => readdirSync(join(folder, '.unfinished'));

t.test('files', async (t) => {
  const folder = join(root, 'contract');
  await privateStoreCompliance(t, {
    open: async (log) => verifiedStore(filesShelf(folder), log),
    async damage(item) {
      const path = pathOf(folder, item);
      const bytes = readFileSync(path);
      bytes[bytes.length - 1000]! ^= 1;
      writeFileSync(path, bytes);
    },
    async fail() {
      t.strictSame(unfinished(folder), [], 'refused writes have left nothing');
      renameSync(folder, `${folder}-away`);
      // A file in its place: what is inside cannot be told to be missing.
      writeFileSync(folder, '');
    },
  });
});

t.test('damage of every kind', async (t) => {
  const folder = join(root, 'damage');
  const log = memoryLog();
  const data = new Uint8Array(100_000).fill(7);
  const ways: readonly ((path: string, length: number) => void)[] = [
    (path) => truncateSync(path, 0),
    (path) => truncateSync(path, 20),
    (path) => truncateSync(path, 100),
    (path, length) => truncateSync(path, length - 1),
    (path) => writeFileSync(path, new Uint8Array(300), { flag: 'r+' }),
    (path) => writeFileSync(path, 'x', { flag: 'a' }),
  ];
  for (const [i, damage] of ways.entries()) {
    const item = itemOf(data);
    const path = pathOf(folder, item);
    const store = verifiedStore(filesShelf(folder), log);
    await store.write(item, inPieces(data));
    damage(path, statSync(path).size);
    t.equal(await store.read(item.policyId, item.hash), undefined, `way ${i}`);
    t.equal(await store.info(item.policyId, item.hash), undefined);
    await store.write(item, inPieces(data));
    t.ok(await holds(store, item, data));
  }
  t.equal(log.of('privacy.damaged').length, ways.length);
});

t.test('a file in the place of another is not served', async (t) => {
  const folder = join(root, 'moved');
  const store = verifiedStore(filesShelf(folder), memoryLog());
  const data = new Uint8Array(10).fill(1);
  const [one, other] = [itemOf(data), itemOf(data)];
  await store.write(one, inPieces(data));
  await store.write(other, inPieces(data));
  renameSync(pathOf(folder, one), pathOf(folder, other));
  t.equal(await store.info(other.policyId, other.hash), undefined);
});

t.test('what a crash left unfinished is gone after the start', async (t) => {
  const folder = join(root, 'leftovers');
  mkdirSync(join(folder, '.unfinished'), { recursive: true });
  writeFileSync(join(folder, '.unfinished', 'abc'), 'half');
  writeFileSync(join(folder, 'notes.txt'), 'something else');
  const store = verifiedStore(filesShelf(folder), memoryLog());
  t.strictSame(unfinished(folder), []);
  t.strictSame(await store.policiesOf(new Uint8Array(32)), []);
});

t.test('only the owner may read', { skip: process.platform === 'win32' }, async (t) => {
  const folder = join(root, 'modes');
  const store = verifiedStore(filesShelf(folder), memoryLog());
  const item = itemOf(new Uint8Array());
  await store.write(item, inPieces(new Uint8Array()));
  const path = pathOf(folder, item);
  const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
  t.equal(mode(path), '600');
  t.equal(mode(join(path, '..')), '700');
  t.equal(mode(folder), '700');
});

/** Lines of a child that works on this folder until it ends or `lines` have come. */
async function child(what: string, folder: string, lines: number): Promise<string[]> {
  // The shell's limit counts blocks of 512 or 1024 bytes.
  const limit = what === 'full' ? 'ulimit -f 4000 && ' : '';
  const quiet = '--disable-warning=ExperimentalWarning';
  const args = ['-c', `${limit}exec "$0" "$@"`, process.execPath, quiet, CHILD, what, folder];
  const running = spawn('sh', args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: childEnvironment(),
  });
  let text = '';
  running.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
    if (text.split('\n').length > lines) running.kill('SIGKILL');
  });
  await once(running, 'close');
  // A line cut off by the kill was never said.
  return text.split('\n').slice(0, -1);
}

t.test('a full disk refuses an item, keeps nothing of it, and takes a smaller one', async (t) => {
  const folder = join(root, 'full');
  const lines = await child('full', folder, 10);
  t.strictSame(lines, ['storage 609', 'unfinished 0', 'stored true', 'other false']);
});

t.test('kill -9 in the middle of writes', async (t) => {
  const folder = join(root, 'killed');
  const said = new Set<string>();
  for (let round = 0; round < KILLS; round++) {
    for (const line of await child('write', folder, 5 + 3 * round)) said.add(line);
    const store = verifiedStore(filesShelf(folder), memoryLog());
    let whole = 0;
    for (const policy of readdirSync(folder).filter((name) => !name.startsWith('.'))) {
      for (const hash of readdirSync(join(folder, policy))) {
        const item = await store.info(base58.decode(policy), base58.decode(hash));
        t.ok(item && (await contentOf(store, item)), 'what has a name is whole');
        whole++;
        said.delete(`${policy} ${hash}`);
      }
    }
    t.ok(whole > 0);
    t.strictSame([...said], [], 'what was acknowledged is there');
  }
});
