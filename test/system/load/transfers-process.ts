/**
 * The process of transfers.ts: signs transfers and hands them to the sender, paced.c, which takes
 * them at its own pace.
 */
import { createSenders } from '../../../bench/transfers/senders.ts';
import { broadcastRequest, nthTransfer } from '../../../bench/transfers/transfers.ts';
import { DEV_CHAIN_ID } from '../../../src/cli/commands/dev/dev-network.ts';
import { cryptographyOf } from '../../../src/cli/cryptography.ts';
import type { Sender } from '../../../src/cli/load/transfers.ts';
import { sendPaced } from './paced.ts';
import type { ToSign, TransfersJob, TransfersResult } from './transfers.ts';

const { scheme } = cryptographyOf(true, DEV_CHAIN_ID);
const [, , PROGRAM = ''] = process.argv;

/** Those that the next job begins with, the last one first. */
const ready: Uint8Array[] = [];

const signed = (n: number, senders: readonly Sender[]): Uint8Array =>
  broadcastRequest(nthTransfer(n, senders, Date.now(), scheme), scheme);

function sign({ first, senders: count, sign: transfers }: ToSign): void {
  const senders = createSenders(count, scheme);
  for (let n = first + transfers - 1; n >= first; n--) ready.push(signed(n, senders));
}

async function run(job: TransfersJob): Promise<TransfersResult> {
  const senders = createSenders(job.senders, scheme);
  let next = job.first;
  function* requests(): Generator<Uint8Array> {
    for (;;) {
      const n = next++;
      yield ready.pop() ?? signed(n, senders);
    }
  }
  const sent = await sendPaced(PROGRAM, job, requests());
  ready.length = 0;
  return { ...sent, next };
}

process.on('message', async (message) => {
  const job = message as TransfersJob | ToSign;
  if ('sign' in job) sign(job);
  process.send?.('sign' in job ? {} : await run(job));
});
