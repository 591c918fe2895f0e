// Adding a transaction type is one file and one line in a list: bytes, JSON, fees, the interface
// description and the flags of the command line follow. Shown in a copy of the sources.
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { childEnvironment } from '../child-environment.ts';

const ROOT = join(import.meta.dirname, '../..');
const PARTS = 'test/project/new-type';
const copy = mkdtempSync(join(tmpdir(), 'new-type-'));
t.teardown(() => rmSync(copy, { recursive: true, force: true }));

for (const name of ['src', 'package.json', `${PARTS}/use-note.ts`]) {
  cpSync(join(ROOT, name), join(copy, name), { recursive: true });
}
symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));

const run = (): string =>
  execFileSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', `${PARTS}/use-note.ts`],
    {
      cwd: copy,
      encoding: 'utf8',
      env: childEnvironment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );

t.test('the copy does not know the type by itself', async (t) => {
  t.throws(run, /Bad transaction type \(99\)/);
});

t.test('one file and one line make a type', async (t) => {
  // Its imports lead to the sources from where the file stands in the repository.
  const file = readFileSync(join(ROOT, PARTS, '099-note.ts'), 'utf8').replaceAll('../src/', '');
  writeFileSync(join(copy, 'src/tx/types/099-note.ts'), file);
  appendFileSync(
    join(copy, 'src/tx/all-types.ts'),
    "export { note } from './types/099-note.ts';\n",
  );
  const said = JSON.parse(run());
  t.match(said.json, { type: 99, version: 1, text: 'hello', fee: 123_456 });
  t.strictSame(said.head, [0, 99, 1], 'bytes');
  t.ok(said.verified, 'the signature holds after decoding');
  t.ok(said.sameBytes, 'the JSON of the answer, broadcast, gives the same bytes');
  t.strictSame(said.schemas, ['NoteV1', 'SignedNoteV1', 'UnsignedNoteV1']);
  t.strictSame(said.fees, [
    ['blockchain.fees.base.note', 123_456, 'Minimum fee of note (99) transactions.'],
    ['blockchain.fees.additional.note', 7, 'Added per character of note (99) transactions.'],
  ]);
  t.strictSame(said.flags, [
    {
      fields: ['sender', 'text', 'timestamp', 'fee'],
      required: ['sender', 'text'],
    },
  ]);
});
