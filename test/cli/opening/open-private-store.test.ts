// The storage that a configuration names; no library of another vendor is loaded.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { StartError } from '../../../src/base/faults/start-error.ts';
import { openPrivateStore } from '../../../src/cli/opening/open-private-store.ts';
import type { Config } from '../../../src/node/config/settings.ts';
import { memoryLog } from '../../node/memory-ports.ts';

const folder = mkdtempSync(join(tmpdir(), 'private-store-'));
t.teardown(() => rmSync(folder, { recursive: true }));

const open = (storage: object) =>
  openPrivateStore({ privacy: { storage } } as unknown as Config, memoryLog());
const isLoaded = (name: string): boolean =>
  Object.keys(createRequire(import.meta.url).cache).some((path) =>
    path.includes(`node_modules/${name}/`),
  );

t.test('none and file need no library', async (t) => {
  t.equal(await open({ vendor: 'none', directory: join(folder, 'none') }), undefined);
  t.notOk(existsSync(join(folder, 'none')));
  const store = await open({ vendor: 'file', directory: join(folder, 'file') });
  await store?.stop();
  t.ok(existsSync(join(folder, 'file')));
  t.notOk(isLoaded('pg'));
});

t.test('a storage that cannot be used ends the start, with a reason and no secret', async (t) => {
  const file = join(folder, 'occupied');
  writeFileSync(file, '');
  const cases: readonly (readonly [object, RegExp])[] = [
    [
      { vendor: 'file', directory: join(file, 'data') },
      /vendor file\) \(privacy\.storage\.directory\): a part of the path is a file/,
    ],
    [
      { vendor: 'postgres', url: 'postgres://127.0.0.1:1/x', user: 'u', password: 'hunter2' },
      /vendor postgres\) \(privacy\.storage\.url\): .*ECONNREFUSED/,
    ],
    [
      {
        vendor: 's3',
        url: 'http://127.0.0.1:1',
        bucket: 'b',
        accessKeyId: 'hunter1',
        secretAccessKey: 'hunter2',
      },
      /vendor s3\) \(privacy\.storage\.url\): .*ECONNREFUSED/,
    ],
  ];
  for (const [storage, reason] of cases) {
    const cause = await open(storage).then(
      () => undefined,
      (cause: unknown) => cause,
    );
    t.ok(cause instanceof StartError);
    t.match((cause as Error).message, reason);
    t.notMatch((cause as Error).message, /hunter/);
  }
  t.ok(isLoaded('pg'), 'the check above would have seen it');
});
