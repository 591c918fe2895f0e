/**
 * The chain of a stopped node once more, from the bytes of its blocks alone: each one is judged by a
 * chain in an empty store that has nothing in common with the node (cold-validator.ts).
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLmdbStore } from '../../../../src/adapters/lmdb/store.ts';
import { stderrLog } from '../../../../src/adapters/log.ts';
import { systemClock } from '../../../../src/adapters/system.ts';
import { encodeHex } from '../../../../src/base/hex.ts';
import { decodeBlock } from '../../../../src/block/block.ts';
import type { Blockchain } from '../../../../src/chain/blockchain.ts';
import { blockAt } from '../../../../src/chain/store/stored-blocks.ts';
import { loadConfig } from '../../../../src/cli/config-file.ts';
import { genesisBlock } from '../../../../src/cli/genesis-block.ts';
import type { ChainScheme } from '../../../../src/codec/codec.ts';
import { tables } from '../../../../src/ledger/tables.ts';
import type { Config } from '../../../../src/node/config/settings.ts';
import { openBlockchain } from '../../../../src/node/open-blockchain.ts';
import { decodeTx } from '../../../../src/tx/tx-bytes.ts';
import { setScript } from '../../../../src/tx/types/013-set-script.ts';
import { appendCold, votesAlone } from '../../../chain/cold-validator.ts';

export interface ColdChain {
  readonly height: number;
  /** After each block; the first one at index 1. */
  readonly stateHashes: readonly (string | undefined)[];
  /** Transactions that set or removed the script of an account. */
  readonly scripts: number;
}

/**
 * Rejects with RefusedBlock where the node has a block that breaks a rule; throws where it has another
 * state after one. `set` as on the command line.
 */
export async function judgeChain(
  configFile: string,
  scheme: ChainScheme,
  set: readonly string[] = [],
): Promise<ColdChain> {
  const { config } = await loadConfig(configFile, { set });
  const empty = mkdtempSync(join(tmpdir(), 'cold-'));
  const node = await open(config, scheme, join(config.dataDirectory, 'chain'));
  const cold = await open(config, scheme, empty);
  try {
    return await grow(cold.blockchain, node.blockchain);
  } finally {
    await node.close();
    await cold.close();
    rmSync(empty, { recursive: true, force: true });
  }
}

async function grow(cold: Blockchain, node: Blockchain): Promise<ColdChain> {
  const { height } = node.tip();
  const { scheme } = node.view;
  const stateHashes: (string | undefined)[] = [undefined, hashAt(cold, 1)];
  let scripts = 0;
  for (let at = 2; at <= height; at++) {
    const block = decodeBlock(blockAt(node.view, at)!.bytes, scheme);
    await appendCold(cold, block);
    const hash = hashAt(cold, at);
    if (hash !== hashAt(node, at)) throw new Error(`another state after block ${at}`);
    stateHashes.push(hash);
    const txs = block.transactions.map((bytes) => decodeTx(bytes, scheme));
    scripts += txs.filter(({ type }) => type === setScript.type).length;
  }
  return { height, stateHashes, scripts };
}

function hashAt(chain: Blockchain, height: number): string | undefined {
  const hash = chain.stateHash(height);
  return hash && encodeHex(hash);
}

async function open(config: Config, scheme: ChainScheme, folder: string) {
  mkdirSync(folder, { recursive: true });
  const store = await openLmdbStore({ folder, tables });
  const { blockchain } = await openBlockchain(config, genesisBlock(config), {
    scheme,
    store,
    verifier: votesAlone(scheme),
    clock: systemClock(),
    log: stderrLog('error', false),
  });
  return { blockchain, close: () => store.close() };
}
