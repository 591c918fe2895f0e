/**
 * The process of transfers.ts: signs transfers and hands them to the sender, paced.c, which takes
 * them at its own pace.
 */
import { spawn } from 'node:child_process';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createSenders } from '../../../bench/transfers/senders.ts';
import { broadcastRequest, nthTransfer } from '../../../bench/transfers/transfers.ts';
import { DEV_CHAIN_ID } from '../../../src/cli/commands/dev/dev-network.ts';
import { cryptographyOf } from '../../../src/cli/cryptography.ts';
import type { Sender } from '../../../src/cli/load/transfers.ts';
import type { ToSign, TransfersJob, TransfersResult } from './transfers.ts';

const { scheme } = cryptographyOf(true, DEV_CHAIN_ID);
const [, , PROGRAM = ''] = process.argv;
/** Handed over in one piece. */
const PIECE = 64;

/** What the sender says at its end. */
type Sent = Omit<TransfersResult, 'next'>;

/** Those that the next job begins with, the last one first. */
const ready: Uint8Array[] = [];

const signed = (n: number, senders: readonly Sender[]): Uint8Array =>
  broadcastRequest(nthTransfer(n, senders, Date.now(), scheme), scheme);

function sign({ first, senders: count, sign: transfers }: ToSign): void {
  const senders = createSenders(count, scheme);
  for (let n = first + transfers - 1; n >= first; n--) ready.push(signed(n, senders));
}

async function run(job: TransfersJob): Promise<TransfersResult> {
  const { port, connections, perSecond, ms, tickMicros } = job;
  const orders = [port, connections, perSecond, ms, tickMicros].map(String);
  const sender = spawn(PROGRAM, orders, { stdio: ['pipe', 'pipe', 'inherit'] });
  const said = text(sender.stdout);
  const senders = createSenders(job.senders, scheme);
  let next = job.first;
  function* framed(): Generator<Uint8Array> {
    for (;;) {
      const piece: Uint8Array[] = [];
      for (const to = next + PIECE; next < to; next++) {
        const request = ready.pop() ?? signed(next, senders);
        piece.push(lengthOf(request), request);
      }
      yield Buffer.concat(piece);
    }
  }
  // The sender ends while it is written to.
  await pipeline(Readable.from(framed()), sender.stdin).catch(() => {});
  ready.length = 0;
  const sent = await said;
  if (sent === '') throw new Error('the sender has failed');
  return { ...(JSON.parse(sent) as Sent), next };
}

function lengthOf(request: Uint8Array): Uint8Array {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(request.length);
  return length;
}

process.on('message', async (message) => {
  const job = message as TransfersJob | ToSign;
  if ('sign' in job) sign(job);
  process.send?.('sign' in job ? {} : await run(job));
});
