// Adding a transaction type is one file and one line in a list: bytes, JSON, fees, the interface
// description and the flags of the command line follow. Shown in a copy of the sources.
import t from 'tap';
import { copySources } from './sources-copy.ts';

const SCRIPT = 'use-note.ts';
const copy = copySources(t, 'test/project/new-type');

t.test('the copy does not know the type by itself', async (t) => {
  t.throws(() => copy.run(SCRIPT), /Bad transaction type \(99\)/);
});

t.test('one file and one line make a type', async (t) => {
  copy.add({
    file: '099-note.ts',
    to: 'src/tx/types',
    list: 'src/tx/all-types.ts',
    line: "export { note } from './types/099-note.ts';",
  });
  const said = JSON.parse(copy.run(SCRIPT));
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
