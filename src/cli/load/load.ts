/**
 * `platform-node load`: sends transfers that were signed before, at a rate or as fast as the nodes
 * answer, and reports what was accepted and confirmed. It uses nothing but the common REST
 * interface, so it measures any node of the family.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type ClientTls, undiciClient } from '../../adapters/http/undici.ts';
import { systemClock } from '../../adapters/system.ts';
import { base58 } from '../../base/base58.ts';
import { isObject } from '../../base/json/json.ts';
import { TimeSlice } from '../../concurrency/time-slice.ts';
import { blocks } from '../../rest/routes/blocks.ts';
import { node as nodeRoutes } from '../../rest/routes/node.ts';
import { type Client, client, RefusedError } from '../../rest-framework/client.ts';
import { transfer } from '../../tx/types/004-transfer.ts';
import { seedPhrase } from '../commands/keystore/seed-phrase.ts';
import { type Cryptography, cryptographyOf } from '../cryptography.ts';
import { CliError, EXIT } from '../terminal/exit.ts';
import { type Interruption, onInterruption } from '../terminal/interruption.ts';
import { printJson, say } from '../terminal/output.ts';
import type { Due, Exchange, Place } from './connection.ts';
import { feeOf, fund, senderOf } from './senders.ts';
import { type SignedTransfers, signTransfers } from './signed-transfers.ts';
import { Tally } from './tally.ts';
import { drive } from './traffic.ts';

export interface LoadOptions {
  readonly urls: readonly string[];
  readonly tls: ClientTls;
  readonly seedFile: string;
  readonly seconds: number;
  /** Transfers a second; undefined: as many as the nodes answer. */
  readonly rate: number | undefined;
  readonly connections: number;
  readonly accounts: number;
  /** The most transfers; undefined: as many as the time and the rate allow. */
  readonly count: number | undefined;
  /** How long the last transfers may take to get into a block. */
  readonly waitSeconds: number;
  readonly chainId: string | undefined;
  readonly nationalCrypto: boolean;
  /** Prints a line of JSON every second. */
  readonly ndjson: boolean;
}

interface Transfer extends Due {
  readonly n: number;
}

/** Signed ahead for each second without a rate: more than a node of this kind takes. */
const FLAT_OUT_PER_SECOND = 10_000;
export const TRANSFERS_IN_MEMORY_MAX = 2_000_000;
const CONFIRMATION_POLL_MS = 50;
/** A connection that ends so often without an answer is given up. */
const FAILURES_MAX = 20;

export async function load(options: LoadOptions): Promise<void> {
  const places = options.urls.map((url) => placeOf(url, options.tls));
  const http = undiciClient(options.tls);
  const interruption = onInterruption();
  try {
    const nodes = options.urls.map((url) => client(http, url));
    await run(options, places, nodes, interruption);
  } catch (cause) {
    if (cause instanceof RefusedError || cause instanceof CliError) throw cause;
    throw new CliError(`A node does not answer: ${(cause as Error).message}`);
  } finally {
    interruption.release();
    await http.close();
  }
}

async function run(
  options: LoadOptions,
  places: readonly Place[],
  nodes: readonly Client[],
  interruption: Interruption,
): Promise<void> {
  const { transfers, first } = await prepared(options, nodes[0]!);
  const ids = new Set(Array.from({ length: transfers.count }, (_, n) => transfers.id(n)));
  const { height } = await first.call(blocks.height);
  const tally = new Tally(performance.now());
  const endWatch = watchBlocks(first, height, (id, now) => tally.seen(id, now, ids.has(id)));
  const endLines = showEverySecond(tally, options.ndjson);
  try {
    await sendAll(options, places, transfers, tally, interruption);
    const deadline = performance.now() + options.waitSeconds * 1000;
    while (tally.unconfirmed > 0 && performance.now() < deadline && !interruption.isAsked()) {
      await pause(CONFIRMATION_POLL_MS);
    }
  } finally {
    endLines();
    await endWatch();
  }
  printJson({ ...tally.report(), unconfirmed: tally.unconfirmed });
  if (tally.total.accepted === 0) throw new CliError('No transfer was accepted');
}

/** The signed transfers of funded accounts. */
async function prepared(
  options: LoadOptions,
  first: Client,
): Promise<{ readonly transfers: SignedTransfers; readonly first: Client }> {
  const { accounts, seconds, rate = FLAT_OUT_PER_SECOND, waitSeconds, seedFile } = options;
  const count = options.count ?? Math.ceil(seconds * rate);
  if (count > TRANSFERS_IN_MEMORY_MAX) {
    throw new CliError(`at most ${TRANSFERS_IN_MEMORY_MAX} transfers, not ${count}`, EXIT.usage);
  }
  const of = await cryptographyOfNode(options, first);
  const phrase = await seedPhrase(seedFile);
  const payer = senderOf(phrase, 0, of);
  const senders = Array.from({ length: accounts }, (_, i) => senderOf(phrase, i + 1, of));
  const fee = await feeOf(first, {
    type: transfer.type,
    version: 2,
    senderPublicKey: base58.encode(payer.publicKey),
    recipient: of.scheme.addressToText(payer.address),
    amount: 1,
  });
  const each = BigInt(Math.ceil(count / accounts));
  await fund(first, { payer, senders, amount: each * (fee + each), waitSeconds }, of);
  const host = new URL(options.urls[0]!).host;
  const onProgress = (done: number): void => {
    if (process.stderr.isTTY) process.stderr.write(`\r\x1b[Ksigned ${done}/${count}`);
  };
  const slice = new TimeSlice(systemClock());
  const work = { count, senders, fee, host, onProgress, slice };
  const transfers = await signTransfers(work, of.scheme);
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  return { transfers, first };
}

async function cryptographyOfNode(
  { chainId, nationalCrypto }: LoadOptions,
  { call }: Client,
): Promise<Cryptography> {
  return cryptographyOf(!nationalCrypto, chainId ?? (await call(nodeRoutes.config)).chainId);
}

/** Resolves when all are sent and answered, the time is over, or no node is left. */
async function sendAll(
  { seconds, rate, connections }: LoadOptions,
  places: readonly Place[],
  transfers: SignedTransfers,
  tally: Tally,
  { isAsked }: Interruption,
): Promise<void> {
  const start = performance.now();
  const until = start + seconds * 1000;
  let taken = 0;

  function next(now: number): Transfer | undefined {
    if (taken >= transfers.count || now >= until || isAsked()) return undefined;
    const at = rate === undefined ? now : start + (taken * 1000) / rate;
    if (at >= until) return undefined;
    const n = taken++;
    return { n, bytes: transfers.bytes(n), at };
  }

  const exchange = (): Exchange<Transfer> => ({
    next,
    answered({ n, at }, answer, now) {
      tally.answered(transfers.id(n), at, answer, now);
    },
    lost(request) {
      if (request !== undefined) tally.loses();
    },
  });
  const givenUp = await drive(places, exchange, { connections, failuresMax: FAILURES_MAX });
  for (const { host, port } of givenUp) say(`a connection to ${host}:${port} was given up`);
}

function placeOf(url: string, tls: ClientTls): Place {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new CliError(`'${url}' is no URL of a node, such as http://127.0.0.1:6862`, EXIT.usage);
  }
  const { hostname, port, protocol } = new URL(url);
  const isTls = protocol === 'https:';
  const host = hostname.replace(/^\[|\]$/g, '');
  return { host, port: Number(port || (isTls ? 443 : 80)), tls: isTls ? tls : undefined };
}

/** A line that is redrawn on a terminal; lines of JSON where they are asked for. */
function showEverySecond(tally: Tally, ndjson: boolean): () => void {
  const isTerminal = process.stderr.isTTY === true;
  if (!isTerminal && !ndjson) return () => undefined;
  let last = tally.total;
  let second = 0;
  const timer = setInterval(() => {
    const now = tally.total;
    second++;
    const accepted = now.accepted - last.accepted;
    const confirmed = now.confirmed - last.confirmed;
    const refused = now.refused - last.refused;
    last = now;
    if (ndjson) printJson({ second, accepted, confirmed, refused });
    if (isTerminal) {
      const line = `${second} s: ${accepted}/s accepted, ${confirmed}/s confirmed, ${refused}/s refused`;
      process.stderr.write(`\r\x1b[K${line}`);
    }
  }, 1000);
  return () => {
    clearInterval(timer);
    if (isTerminal) process.stderr.write('\r\x1b[K');
  };
}

const POLL_MS = 50;

/**
 * Calls `seen` with the id of every transaction in blocks above `height`, until the returned function
 * is called. A block that cannot be read, because the node is busy, is asked for again.
 */
function watchBlocks(
  { call }: Client,
  height: number,
  seen: (id: string, now: number) => void,
): () => Promise<void> {
  let isOver = false;
  let next = height + 1;

  async function read(): Promise<void> {
    const tip = (await call(blocks.height)).height;
    for (; next <= tip && !isOver; next++) {
      const now = performance.now();
      const block: unknown = await call(blocks.at, { params: { height: next } });
      const list = isObject(block) ? block['transactions'] : undefined;
      if (!Array.isArray(list)) return;
      for (const tx of list) if (isObject(tx)) seen(String(tx['id']), now);
    }
  }

  async function follow(): Promise<void> {
    while (!isOver) {
      await read().catch(() => undefined);
      await pause(POLL_MS);
    }
  }

  const ended = follow();
  return () => {
    isOver = true;
    return ended;
  };
}
