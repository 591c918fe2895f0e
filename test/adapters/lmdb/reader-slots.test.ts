// Two processes with the same number, as two containers have them, do not have a store open together.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { readersIn } from '../../../src/adapters/lmdb/reader-slots.ts';
import { openReading } from '../../../src/adapters/lmdb/reading.ts';
import { openLmdbStore } from '../../../src/adapters/lmdb/store.ts';
import { childEnvironment } from '../../child-environment.ts';

const ADAPTERS = join(import.meta.dirname, '../../../src/adapters/lmdb');
const tables = [{ id: 1, name: 'one' }];
const UNSHARE = ['--pid', '--fork', '--mount-proc', '--kill-child'];
const skip = spawnSync('unshare', [...UNSHARE, 'true']).status === 0 ? false : 'no namespaces here';

async function stored(t: Test): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'slots-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const store = await openLmdbStore({ folder, tables });
  await store.write([{ table: 1, key: Buffer.from('key'), value: Buffer.from('value') }]);
  await store.close();
  return folder;
}

/** As process 1 of a namespace of its own: opens the store, prints `open`, and closes it when its input ends. */
function contained(how: 'openReading' | 'openLmdbStore', folder: string): ChildProcess {
  const program = `
    import { openLmdbStore } from ${JSON.stringify(`${ADAPTERS}/store.ts`)};
    import { openReading } from ${JSON.stringify(`${ADAPTERS}/reading.ts`)};
    try {
      const opened = await ${how}(${JSON.stringify({ folder, tables })});
      process.stdout.write('open');
      for await (const _ of process.stdin);
      await opened.close();
    } catch (cause) {
      process.stdout.write(cause.name + ': ' + cause.message);
    }
  `;
  const node = [process.execPath, '--disable-warning=ExperimentalWarning', '--input-type=module'];
  return spawn('unshare', [...UNSHARE, ...node, '-e', program], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: childEnvironment(),
  });
}

async function said(child: ChildProcess): Promise<string> {
  const [text] = (await once(child.stdout!, 'data')) as [Buffer];
  return text.toString();
}

async function end(child: ChildProcess): Promise<void> {
  const closed = once(child, 'close');
  child.stdin?.end();
  t.strictSame(await closed, [0, null]);
}

t.test('those who read', async (t) => {
  const folder = await stored(t);
  t.strictSame(readersIn(folder), []);
  const store = await openLmdbStore({ folder, tables });
  const reading = await openReading({ folder, tables });
  t.match(store.get(1, Buffer.from('key')), Buffer.from('value'), 'one process may have it twice');
  await reading.close();
  await store.close();
  t.strictSame(readersIn(join(folder, 'none')), []);
});

t.test('a command beside the node', { skip }, async (t) => {
  const folder = await stored(t);
  const node = contained('openLmdbStore', folder);
  t.equal(await said(node), 'open');
  t.ok(readersIn(folder).includes(1));
  const command = contained('openReading', folder);
  t.match(
    await said(command),
    /^SamePidError: .* has the number 1 too, .*: run this inside the container of the node/,
  );
  await end(command);
  const outside = await openReading({ folder, tables });
  await outside.close();
  await end(node);
});

t.test('a node beside a command', { skip }, async (t) => {
  const folder = await stored(t);
  const command = contained('openReading', folder);
  t.equal(await said(command), 'open');
  const node = contained('openLmdbStore', folder);
  t.match(await said(node), /^SamePidError: .* has the number 1 too, /);
  await end(node);
  await end(command);
  const later = contained('openLmdbStore', folder);
  t.equal(await said(later), 'open');
  await end(later);
});

t.test('after a kill', { skip }, async (t) => {
  const folder = await stored(t);
  const killed = contained('openLmdbStore', folder);
  t.equal(await said(killed), 'open');
  const gone = once(killed, 'close');
  killed.kill('SIGKILL');
  await gone;
  t.ok(readersIn(folder).includes(1));
  for (const how of ['openReading', 'openLmdbStore'] as const) {
    const next = contained(how, folder);
    t.equal(await said(next), 'open', 'the slot of the dead is in nobody’s way');
    await end(next);
  }
});
