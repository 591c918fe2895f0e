import t from 'tap';
import { base58 } from '../../../src/base/base58.ts';
import { parse } from '../../../src/base/json/json.ts';
import { signTransfers } from '../../../src/cli/load/signed-transfers.ts';
import { TimeSlice } from '../../../src/concurrency/time-slice.ts';
import { scheme, users } from '../../chain/chain-harness.ts';

const COUNT = 12;

t.test('the event loop turns while transfers are signed', async (t) => {
  let time = 0;
  let turns = 0;
  // Each look at it takes a millisecond, so that a slice is over after two transfers.
  const clock = {
    monotonic: () => time++,
    turn: async () => {
      turns++;
    },
  };
  const senders = users.map(({ publicKey, address, sign }) => ({ publicKey, address, sign }));
  const options = { count: COUNT, senders, fee: 100_000n, host: 'node', onProgress() {} };
  const slice = new TimeSlice(clock);
  const signed = await signTransfers({ ...options, slice }, scheme);
  t.ok(turns >= COUNT / 2, `${turns} turns`);
  t.equal(signed.count, COUNT);
  const [head, body] = Buffer.from(signed.bytes(4)).toString().split('\r\n\r\n');
  t.match(head, /^POST \/transactions\/broadcast HTTP\/1\.1\r\nHost: node\r\n/);
  t.match(parse(body!), {
    id: signed.id(4),
    senderPublicKey: base58.encode(senders[1]!.publicKey),
    recipient: scheme.addressToText(senders[2]!.address),
  });
});
