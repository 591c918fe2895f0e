/** What waits for a disk that does not answer is limited. */
import t from 'tap';
import { concat } from '../../../src/base/bytes.ts';
import { decodeStatuses, encodeStatuses } from '../../../src/contracts/statuses/status-messages.ts';
import { MESSAGE_CHARS_MAX, signedPart } from '../../../src/contracts/statuses/status-record.ts';
import { StatusStore } from '../../../src/contracts/statuses/status-store.ts';
import { account, newChain, quiet, scheme } from '../../chain/chain-harness.ts';
import { Rng } from '../../generators/random.ts';

const miner = account('miner of a contract');
const contractId = new Uint8Array(32).fill(1);
const RECORDS = 10_000;
const WAITING_BYTES_MAX = 8 * 1024 * 1024;

t.test('no more records are taken while the disk does not answer', async (t) => {
  const { blockchain, clock } = await newChain();
  const store = new StatusStore(
    { recordsMax: 2 * RECORDS, bytesMax: 1e9, keepMs: 1e9 },
    { view: blockchain.view, clock, log: quiet, store: { write: () => new Promise(() => {}) } },
  );
  const rng = new Rng(1);
  let taken = 0;
  let bytes = 0;
  for (let i = 0; i < RECORDS; i++) {
    const record = concat(
      signedPart(
        {
          ...{ senderPublicKey: miner.publicKey, txId: rng.bytes(32), status: 'Failure', code: 1 },
          ...{ message: 'я'.repeat(MESSAGE_CHARS_MAX), timestamp: clock.now() },
        },
        scheme,
      ),
      new Uint8Array(64),
    );
    const [sent] = decodeStatuses(encodeStatuses([record], scheme), scheme);
    if (!store.add(sent!, contractId)) break;
    taken++;
    bytes += record.length;
  }
  t.ok(taken < RECORDS && bytes > WAITING_BYTES_MAX / 2, `${taken} records, ${bytes} bytes`);
});
