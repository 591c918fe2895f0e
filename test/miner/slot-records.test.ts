// The records of the journal of turns: their bytes, and what a later one says of an earlier one.
import t from 'tap';
import { utf8 } from '../../src/base/bytes.ts';
import { readRecord, recordOf, type SlotEvent } from '../../src/miner/slot-records.ts';

const bytes = Uint8Array.of(9, 8, 7);

t.test('the bytes of each kind', async (t) => {
  const hex = (event: SlotEvent): string => Buffer.from(recordOf(event)).toString('hex');
  const turn = 'round 7';
  t.equal(hex({ kind: 'sealed', turn, bytes }), '0107726f756e642037090807');
  t.equal(hex({ kind: 'lost', turn, bytes }), '0207726f756e642037090807');
  t.equal(hex({ kind: 'asked', turn, bytes }), '0407726f756e642037090807');
  t.equal(hex({ kind: 'freed', turn, bytes: new Uint8Array(0) }), '0307726f756e642037');
  t.equal(hex({ kind: 'used', turn, bytes: new Uint8Array(0) }), '726f756e642037');
});

t.test('each is read as it was written, and as a copy', async (t) => {
  const turns = ['round 0', `child of ${'z'.repeat(88)}`];
  for (const turn of turns) {
    for (const kind of ['sealed', 'lost', 'asked', 'freed', 'used'] as const) {
      const block = kind === 'freed' || kind === 'used' ? new Uint8Array(0) : bytes;
      const record = recordOf({ kind, turn, bytes: block });
      const read = readRecord(record);
      record.fill(0);
      t.strictSame({ ...read, bytes: [...read.bytes] }, { kind, turn, bytes: [...block] });
    }
  }
});

t.test('no bytes make it throw, and none is a turn that exists', async (t) => {
  for (const list of [[], [0], [1], [2, 200, 65], [5, 1, 65], [255, 254], [3]]) {
    const { turn } = readRecord(Uint8Array.from(list));
    t.notMatch(turn, /^(round|child of) /, list.join(' '));
  }
  t.strictSame(readRecord(utf8('child of X')).kind, 'used');
});
