/** A type that the product does not have; new-type.test.ts adds it to a copy of the sources. */
import { text16 } from '../../../src/codec/primitives.ts';
import { fee, senderPublicKey, timestamp } from '../../../src/tx/fields/shared.ts';
import { transaction } from '../../../src/tx/transaction.ts';

export const note = transaction({
  type: 99,
  name: 'NoteTransaction',
  key: 'note',
  doc: 'Writes a note.',
  fields: { senderPublicKey, text: text16(100), timestamp, fee },
  layouts: [
    { version: 1, frame: 'proven', fields: ['senderPublicKey', 'text', 'timestamp', 'fee'] },
  ],
  fee: 123_456n,
  additionalFee: {
    perUnit: 7n,
    unit: 'character',
    units: ({ fields }) => fields.text.length,
  },
});
