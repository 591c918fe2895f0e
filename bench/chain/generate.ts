/**
 * Makes a data directory whose chain holds many transfers in full blocks, with the node's own code
 * but without network, pool and signature checks. Blocks are one round apart and end about now.
 *
 *   node bench/chain/generate.ts DIR TRANSFERS
 */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openLmdbStore } from '../../src/adapters/lmdb/store.ts';
import { stderrLog } from '../../src/adapters/log.ts';
import { systemClock } from '../../src/adapters/system.ts';
import { assert } from '../../src/base/assert.ts';
import type { Blockchain } from '../../src/chain/blockchain.ts';
import { loadConfig } from '../../src/cli/config-file.ts';
import { genesisBlock } from '../../src/cli/genesis-block.ts';
import type { Sender } from '../../src/cli/load/transfers.ts';
import { tables } from '../../src/ledger/tables.ts';
import { openBlockchain } from '../../src/node/open-blockchain.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { makeBlock } from '../../test/chain/make-block.ts';
import { inlineVerifier } from '../../test/simulated/inline-verifier.ts';
import { type DevFolder, makeDevFolder } from '../node/dev-folder.ts';
import { createSenders } from '../transfers/senders.ts';
import { fundingTransfers, nthTransfer } from '../transfers/transfers.ts';

const SENDERS = 512;
const ROUND_MS = 1000;
/** Of a block, also where the network allows more. */
const BLOCK_BYTES = 1024 * 1024;
/** Less than a block holds. */
const BLOCK_TRANSFERS_MIN = 5000;
const SPARE_ROUNDS = 10;

export interface GeneratedChain {
  readonly folder: DevFolder;
  readonly senders: readonly Sender[];
  readonly height: number;
  readonly transfers: number;
  /** Ids of some transfers of every block. */
  readonly ids: readonly Uint8Array[];
}

export interface GenerateOptions {
  /** Transfers of a block; as many as fit where it is absent. */
  readonly perBlock?: number;
  /** Who gets the n-th transfer; the next sender where it is absent. */
  readonly recipientOf?: (n: number) => Uint8Array;
  /** The setting `platform-crypto`, by default yes. */
  readonly platformCrypto?: boolean;
  /** As in DevFolderOptions. */
  readonly features?: readonly number[] | undefined;
}

export async function generateChain(
  dir: string,
  transfers: number,
  options: GenerateOptions = {},
): Promise<GeneratedChain> {
  const { perBlock = Infinity, platformCrypto = true, features } = options;
  const genesisTimestamp = timestampBefore(transfers, perBlock);
  const made = { dir, roundMs: ROUND_MS, genesisTimestamp, platformCrypto, features };
  const folder = await makeDevFolder(made);
  const senders = benchSenders(folder);
  const grown = await growChain(folder, senders, { from: 0, to: transfers }, options);
  return { folder, senders, transfers, ...grown };
}

/** A time of a genesis block that so many transfers can follow until now. */
export function timestampBefore(transfers: number, perBlock = Infinity): number {
  const rounds = Math.ceil(transfers / Math.min(perBlock, BLOCK_TRANSFERS_MIN)) + SPARE_ROUNDS;
  return Date.now() - rounds * ROUND_MS;
}

/** The same accounts in each chain of these files. */
export const benchSenders = ({ scheme }: DevFolder): Sender[] => createSenders(SENDERS, scheme);

/** Appends the transfers from number `from` on; where that is 0, the senders get their money. */
export async function growChain(
  folder: DevFolder,
  senders: readonly Sender[],
  { from, to }: { readonly from: number; readonly to: number },
  { perBlock = Infinity, recipientOf }: GenerateOptions = {},
): Promise<Pick<GeneratedChain, 'height' | 'ids'>> {
  const { blockchain, close } = await openChain(folder);
  const ids: Uint8Array[] = [];
  let done = from;

  if (from === 0) {
    await produceBlock(blockchain, folder, function* (timestamp) {
      yield* fundingTransfers(senders, folder.owner, timestamp, folder.scheme);
    });
  }
  while (done < to) {
    const start = done;
    const end = Math.min(to, start + perBlock);
    const txs = await produceBlock(blockchain, folder, function* (timestamp) {
      for (let n = start; n < end; n++) {
        yield nthTransfer(n, senders, timestamp, folder.scheme, recipientOf?.(n));
      }
    });
    for (let i = 0; i < txs.length; i += ID_STEP) ids.push(txs[i]!.id.slice());
    done += txs.length;
  }
  const { height } = blockchain.tip();
  await close();
  return { height, ids };
}

const ID_STEP = 97;

/** Makes the next block; gives the transactions that fitted. */
export async function produceBlock(
  blockchain: Blockchain,
  { owner }: DevFolder,
  source: (timestamp: number) => Iterable<Tx>,
): Promise<readonly Tx[]> {
  const slot = blockchain.nextSlot(owner, blockchain.tip().header.timestamp + 1);
  assert(slot !== undefined, 'the only miner always has a slot');
  let packed: readonly Tx[] = [];
  await makeBlock(blockchain, owner, slot.from, async (draft, { bytesMax, countMax }) => {
    let bytes = 0;
    for (const tx of source(slot.from)) {
      bytes += tx.bytes.length;
      if (bytes > Math.min(bytesMax, BLOCK_BYTES) || draft.txs.length >= countMax) break;
      draft.replay(tx);
    }
    packed = draft.txs;
  });
  return packed;
}

/** `set` as on the command line. */
export async function openChain(
  folder: DevFolder,
  set: readonly string[] = [],
): Promise<{ blockchain: Blockchain; close: () => Promise<void> }> {
  const { scheme, family } = folder;
  const { config } = await loadConfig(folder.config, { set });
  const place = join(config.dataDirectory, 'chain');
  mkdirSync(place, { recursive: true });
  const store = await openLmdbStore({ folder: place, tables });
  const { blockchain } = await openBlockchain(config, genesisBlock(config), {
    scheme,
    store,
    verifier: inlineVerifier(family),
    clock: systemClock(),
    log: stderrLog('error', false),
  });
  return { blockchain, close: () => store.close() };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [dir = '', count = ''] = process.argv.slice(2);
  const start = performance.now();
  const { height, transfers } = await generateChain(dir, Number(count));
  const seconds = (performance.now() - start) / 1000;
  process.stdout.write(`${transfers} transfers, height ${height}, ${seconds.toFixed(1)} s\n`);
}
