/**
 * Makes a chain that holds transactions of every type in the proportions of bench/mix.json, made by
 * the generators of the tests. Most transfers are between many accounts. The rest of a block comes
 * from six accounts, with assets, leases, data, permissions, policies and contracts.
 *
 *   node bench/chain/mixed.ts DIR TRANSACTIONS
 */

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { assert } from '../../src/base/assert.ts';
import { ApiError } from '../../src/base/errors.ts';
import type { BlockDraft } from '../../src/chain/apply/block-draft.ts';
import type { Sender } from '../../src/cli/load/transfers.ts';
import type { ChainScheme } from '../../src/codec/codec.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { transfer } from '../../src/tx/types/004-transfer.ts';
import { permit } from '../../src/tx/types/102-permit.ts';
import { registerNode } from '../../src/tx/types/111-register-node.ts';
import { miners, users } from '../../test/chain/chain-harness.ts';
import { makeBlock } from '../../test/chain/make-block.ts';
import {
  type Attempt,
  actions,
  newScene,
  type Scene,
  sign,
} from '../../test/generators/actions.ts';
import { Rng } from '../../test/generators/random.ts';
import { type DevFolder, makeDevFolder } from '../node/dev-folder.ts';
import { createSenders } from '../transfers/senders.ts';
import { fundingTransfers, nthTransfer } from '../transfers/transfers.ts';
import { openChain, produceBlock } from './generate.ts';

/** Of a thousand transactions, how many are of each type. */
const mix: Readonly<Record<string, number>> = JSON.parse(
  readFileSync(new URL('../mix.json', import.meta.url), 'utf8'),
);
const SEED = 1;
const SENDERS = 512;
const ROUND_MS = 1000;
const FUNDS = 1_000_000_00000000n;
/** One of so many transfers is of an asset, by an alias, or pays its fee in an asset. */
const SPECIAL_TRANSFER = 4;
/** A block of mixed transactions holds more; several miners share the rounds. */
const ROUNDS_PER_TRANSACTION = 0.01;
const SPARE_ROUNDS = 100;
const ROLES = ['permissioner', 'connection_manager', 'issuer', 'dex', 'contract_developer'];

export interface MixedChain {
  readonly folder: DevFolder;
  readonly transactions: number;
  readonly height: number;
}

export async function generateMixed(dir: string, transactions: number): Promise<MixedChain> {
  const rounds = Math.ceil(transactions * ROUNDS_PER_TRANSACTION) + SPARE_ROUNDS;
  const genesisTimestamp = Date.now() - rounds * ROUND_MS;
  const folder = await makeDevFolder({ dir, roundMs: ROUND_MS, genesisTimestamp });
  const { scheme, owner } = folder;
  const senders = createSenders(SENDERS, scheme);
  const { blockchain, close } = await openChain(folder);
  const scene = newScene(new Rng(SEED));
  scene.generator = owner;

  await produceBlock(blockchain, folder, function* (timestamp) {
    yield* fundingTransfers(senders, owner, timestamp, scheme);
    scene.now = timestamp;
    yield* beginnings(scene, owner);
  });
  let done = 0;
  while (done < transactions) {
    const before = done;
    const slot = blockchain.nextSlot(owner, blockchain.tip().header.timestamp + 1);
    assert(slot !== undefined, 'the owner is a miner');
    scene.now = slot.from;
    await makeBlock(blockchain, owner, slot.from, async (draft, { bytesMax, countMax }) => {
      let bytes = 0;
      while (done < transactions && draft.txs.length < countMax) {
        const { tx, accepted } = attempt(scene, senders, done, scheme);
        if (bytes + tx.bytes.length > bytesMax) break;
        if (!isAccepted(draft, tx)) continue;
        accepted?.();
        bytes += tx.bytes.length;
        done++;
      }
    });
    assert(done > before, 'a block holds some');
  }
  const { height } = blockchain.tip();
  await close();
  return { folder, transactions, height };
}

/** What a scene knows may not be so any more, or not be allowed to whom it picked. */
function isAccepted(draft: Pick<BlockDraft, 'replay'>, tx: Tx): boolean {
  try {
    draft.replay(tx);
    return true;
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  }
}

function attempt(
  scene: Scene,
  senders: readonly Sender[],
  n: number,
  scheme: ChainScheme,
): Attempt {
  while (true) {
    const type = pick(scene.rng);
    if (type === transfer.type && !scene.rng.chance(SPECIAL_TRANSFER)) {
      return { tx: nthTransfer(n, senders, scene.now, scheme) };
    }
    const made = actions[type]?.(scene);
    if (made !== undefined) return made;
  }
}

const total = Object.values(mix).reduce((sum, count) => sum + count);

function pick(rng: Rng): number {
  let left = rng.below(total);
  for (const [type, count] of Object.entries(mix)) {
    left -= count;
    if (left < 0) return Number(type);
  }
  throw new RangeError('no type is left');
}

/** The accounts of the scene get money and roles, and the nodes that a policy may name. */
function* beginnings(scene: Scene, owner: DevFolder['owner']): Generator<Tx> {
  const all = [...miners, ...users];
  for (const { address, publicKey } of all) {
    const target = { kind: 'address', bytes: address } as const;
    yield sign(scene, transfer, owner, 2, { recipient: target, amount: FUNDS });
    for (const role of ROLES) {
      yield sign(scene, permit, owner, 1, { target, opType: 'add', role, dueTimestamp: undefined });
    }
    const node = { targetPubKey: publicKey, nodeName: 'a node', opType: 'add' };
    yield sign(scene, registerNode, owner, 1, node);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [dir = '', count = ''] = process.argv.slice(2);
  const { transactions, height } = await generateMixed(dir, Number(count));
  process.stdout.write(`${transactions} transactions, height ${height}\n`);
}
