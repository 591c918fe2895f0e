// The turns that a miner has used are on disk before it signs, and are known after its next start.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openJournal } from '../../src/adapters/journal.ts';
import { utf8 } from '../../src/base/bytes.ts';
import { ApiError, apiError } from '../../src/base/errors.ts';
import type { Journal } from '../../src/base/ports/journal.ts';
import { UsedSlots } from '../../src/miner/used-slots.ts';
import { quiet } from '../chain/chain-harness.ts';
import { emptyRecords, memoryJournal } from '../node/memory-ports.ts';

const KEPT = 1_500;
const FILE_BYTES_MAX = 8 * 1024 * 1024;

const block = (text: string): Uint8Array => utf8(`block of ${text}`);

function fileOf(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'turns-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'turns.journal');
}

t.test('a claimed turn is used, in this life and the next', async (t) => {
  const path = fileOf(t);
  const first = openJournal({ path });
  const turns = new UsedSlots(first, quiet);
  t.notOk(turns.has('round 7'));
  await turns.claim('round 7', block('round 7'));
  t.ok(turns.has('round 7'));
  await t.rejects(
    turns.claim('round 7', block('another')),
    apiError('Invalid', 'This node has used its turn: round 7'),
  );
  await first.close();

  const second = openJournal({ path });
  const again = new UsedSlots(second, quiet);
  t.ok(again.has('round 7'));
  t.strictSame(again.sealed().at(-1), { turn: 'round 7', bytes: block('round 7') });
  await t.rejects(again.claim('round 7', block('another')), ApiError);
  await again.claim('round 7', block('round 7'));
  await again.claim('round 6', block('round 6'));
  t.strictSame(again.sealed().at(-1), { turn: 'round 6', bytes: block('round 6') });
  await second.close();
});

t.test('a turn is claimed only once it is on disk', async (t) => {
  const disk = Promise.withResolvers<void>();
  const records = { ...emptyRecords(), disk: disk.promise };
  let claimed = false;
  const claim = new UsedSlots(memoryJournal(records), quiet)
    .claim('round 1', block('round 1'))
    .then(() => {
      claimed = true;
    });
  await new Promise((resolve) => setImmediate(resolve));
  t.notOk(claimed);
  disk.resolve();
  await claim;
  t.equal(records.list.length, 1);
});

t.test('kill -9 between the note and the broadcast', async (t) => {
  const path = fileOf(t);
  const script = join(import.meta.dirname, 'turn-child.ts');
  const child = spawn(process.execPath, [script, path, 'round 9'], {
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'exit');
  const journal = openJournal({ path });
  const turns = new UsedSlots(journal, quiet);
  t.strictSame(
    turns.sealed().at(-1),
    { turn: 'round 9', bytes: block('round 9') },
    'and of its block',
  );
  await t.rejects(turns.claim('round 9', block('another')), ApiError);
  await journal.close();
});

t.test('without a disk there is no turn, and later the same block has it', async (t) => {
  const records = emptyRecords();
  const working = memoryJournal(records);
  let isFull = true;
  const journal: Journal = {
    ...working,
    append: async (record) => {
      if (isFull) throw new Error('the disk is full');
      await working.append(record);
    },
  };
  const turns = new UsedSlots(journal, quiet);
  await t.rejects(turns.claim('round 1', block('one')), /cannot be noted on disk/);
  t.ok(turns.has('round 1'));
  t.strictSame(turns.sealed().at(-1)?.bytes, block('one'));
  await t.rejects(turns.claim('round 1', block('one')), /cannot be noted on disk/);
  await t.rejects(turns.claim('round 1', block('two')), /has used its turn/);
  isFull = false;
  await turns.claim('round 1', block('one'));
  t.equal(records.list.length, 1);
  await turns.claim('round 1', block('one'));
  t.equal(records.list.length, 1, 'what is on disk is not written again');
});

t.test('the newest turns are kept, and the file stays short', async (t) => {
  const records = emptyRecords();
  const turns = new UsedSlots(memoryJournal(records), quiet);
  for (let i = 1; i <= 5 * KEPT; i++) await turns.claim(`round ${i}`, block(`${i}`));
  t.ok(records.list.length <= 2 * KEPT, `${records.list.length} records`);
  const again = new UsedSlots(memoryJournal(records), quiet);
  t.ok(again.has(`round ${5 * KEPT}`) && again.has(`round ${4 * KEPT + 1}`));
  t.notOk(again.has(`round ${KEPT}`));
  t.strictSame(again.sealed().at(-1)?.bytes, block(`${5 * KEPT}`));
});

t.test('blocks of one mebibyte do not fill the disk', async (t) => {
  const records = emptyRecords();
  const large = (i: number): Uint8Array => new Uint8Array(1024 * 1024).fill(i);
  const turns = new UsedSlots(memoryJournal(records), quiet);
  for (let i = 1; i <= 30; i++) {
    await turns.claim(`round ${i}`, large(i));
    const bytes = records.list.reduce((sum, record) => sum + record.length, 0);
    t.ok(bytes <= FILE_BYTES_MAX + 2 * KEPT * 30, `${bytes} bytes`);
  }
  const again = new UsedSlots(memoryJournal(records), quiet);
  t.ok(again.has('round 1') && again.has('round 29'));
  t.strictSame(again.sealed().at(-1), { turn: 'round 30', bytes: large(30) });
});

t.test('records of an earlier release name turns without blocks', async (t) => {
  const records = { ...emptyRecords(), list: [utf8('round 3'), utf8('child of 4x')] };
  const turns = new UsedSlots(memoryJournal(records), quiet);
  t.ok(turns.has('round 3') && turns.has('child of 4x'));
  t.equal(turns.sealed().at(-1), undefined);
  await t.rejects(turns.claim('round 3', block('three')), /has used its turn/);
});

t.test('a record that was cut off anywhere was never claimed', async (t) => {
  const path = fileOf(t);
  const first = openJournal({ path });
  await new UsedSlots(first, quiet).claim('round 1', block('one'));
  const before = readFileSync(path).length;
  await new UsedSlots(first, quiet).claim('round 2', block('two'));
  const whole = readFileSync(path);
  await first.close();
  for (let length = before; length < whole.length; length++) {
    writeFileSync(path, whole.subarray(0, length));
    const journal = openJournal({ path });
    const turns = new UsedSlots(journal, quiet);
    t.notOk(turns.has('round 2'), `${length} of ${whole.length} bytes`);
    t.strictSame(turns.sealed().at(-1), { turn: 'round 1', bytes: block('one') });
    await journal.close();
  }
});

t.test('a block that leaves the chain is kept beside the newest, in later lives too', async (t) => {
  const records = emptyRecords();
  const turns = new UsedSlots(memoryJournal(records), quiet);
  for (const i of [1, 2, 3]) await turns.claim(`child of ${i}`, block(`${i}`));
  for (const i of [3, 2]) await turns.keep({ turn: `child of ${i}`, bytes: block(`${i}`) });
  await turns.claim('child of 0', block('0'));
  const expected = [3, 2, 0].map((i) => ({ turn: `child of ${i}`, bytes: block(`${i}`) }));
  t.strictSame(turns.sealed(), expected);
  const again = new UsedSlots(memoryJournal(records), quiet);
  t.strictSame(again.sealed(), expected);
  await t.rejects(again.claim('child of 2', block('another')), /has used its turn/);
  const { length } = records.list;
  await again.claim('child of 2', block('2'));
  t.equal(records.list.length, length, 'it is on disk already');
  again.forget('child of 2');
  again.forget('child of 0');
  t.strictSame(again.sealed(), [expected[0], expected[2]], 'the newest may have never been there');
  t.ok(again.has('child of 2'));
});

t.test('given up, a turn stays used without a block; freed, it has another', async (t) => {
  const records = emptyRecords();
  const turns = new UsedSlots(memoryJournal(records), quiet);
  await turns.claim('child of 1', block('1'));
  await turns.keep({ turn: 'child of 1', bytes: block('1') });
  await turns.claim('child of 2', block('2'));
  t.ok(turns.isOfThisLife('child of 2'));
  t.notOk(turns.isOfThisLife('child of 1'));
  for (const turn of ['child of 1', 'child of 2', 'child of 3']) await turns.giveUp(turn);
  for (const life of [turns, new UsedSlots(memoryJournal(records), quiet)]) {
    t.strictSame(life.sealed(), []);
    for (const i of [1, 2, 3]) {
      const turn = `child of ${i}`;
      await t.rejects(life.claim(turn, block(`${i}`)), /has used its turn/);
      t.notOk(life.isOfThisLife(turn));
    }
  }
  await turns.claim('child of 4', block('4'));
  await turns.free('child of 4');
  t.strictSame([turns.has('child of 4'), turns.sealed()], [false, []]);
  const again = new UsedSlots(memoryJournal(records), quiet);
  t.notOk(again.has('child of 4'));
  await again.claim('child of 4', block('another'));
  t.strictSame(again.sealed(), [{ turn: 'child of 4', bytes: block('another') }]);
  const later = new UsedSlots(memoryJournal(records), quiet);
  await later.claim('child of 4', block('another'));
  t.notOk(later.isOfThisLife('child of 4'), 'an earlier life has sealed it');
});

t.test('a turn that could not be freed is claimed on disk again', async (t) => {
  const records = emptyRecords();
  const working = memoryJournal(records);
  let isFull = false;
  const journal: Journal = {
    ...working,
    append: async (record) => {
      await working.append(record);
      if (isFull) throw new Error('nobody knows whether it is on disk');
    },
  };
  const turns = new UsedSlots(journal, quiet);
  await turns.claim('child of 1', block('1'));
  isFull = true;
  await t.rejects(turns.free('child of 1'), /cannot be noted on disk/);
  t.ok(turns.has('child of 1'));
  isFull = false;
  await turns.claim('child of 1', block('1'));
  const again = new UsedSlots({ ...journal, recovered: [...records.list] }, quiet);
  await t.rejects(again.claim('child of 1', block('another')), /has used its turn/);
  isFull = true;
  await t.rejects(again.giveUp('child of 1'), /cannot be noted on disk/);
  isFull = false;
  await again.claim('child of 1', block('1'));
  t.notOk(again.isOfThisLife('child of 1'), 'noted again, but sealed before');
});

t.test('the turns of all blocks that a rollback can remove are known', async (t) => {
  const records = emptyRecords();
  const turns = new UsedSlots(memoryJournal(records), quiet, KEPT + 10);
  for (let i = 1; i <= KEPT + 20; i++) await turns.claim(`child of ${i}`, block(`${i}`));
  t.strictSame([turns.has('child of 10'), turns.has('child of 11')], [false, true]);
});

t.test('a file that is written anew keeps lost blocks, and grows only with them', async (t) => {
  const records = emptyRecords();
  const turns = new UsedSlots(memoryJournal(records), quiet);
  const large = (i: number): Uint8Array => new Uint8Array(1024 * 1024).fill(i);
  for (let i = 1; i <= 4; i++) await turns.keep({ turn: `child of ${i}`, bytes: large(i) });
  for (let i = 5; i <= 40; i++) await turns.claim(`child of ${i}`, large(i));
  const bytes = records.list.reduce((sum, record) => sum + record.length, 0);
  t.ok(bytes <= FILE_BYTES_MAX + 9 * 1024 * 1024, `${bytes} bytes`);
  const again = new UsedSlots(memoryJournal(records), quiet);
  t.strictSame(
    again.sealed().map(({ turn, bytes: block }) => [turn, block.length, block[0]]),
    [1, 2, 3, 4, 40].map((i) => [`child of ${i}`, 1024 * 1024, i]),
  );
});

t.test('a file that is written anew keeps the block that was sealed last', async (t) => {
  const records = emptyRecords();
  const turns = new UsedSlots(memoryJournal(records), quiet);
  await turns.claim('child of 0', block('0'));
  for (let i = 1; i <= 2 * KEPT; i++) await turns.giveUp(`child of ${i % 10}1`);
  t.ok(records.list.length < KEPT, 'it was written anew');
  const again = new UsedSlots(memoryJournal(records), quiet);
  t.strictSame(again.sealed(), [{ turn: 'child of 0', bytes: block('0') }]);
});
