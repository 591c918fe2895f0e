/** For every protocol between nodes: the costliest message that its budget allows. */
import { randomBytes } from 'node:crypto';
import { systemRandom } from '../../../src/adapters/system.ts';
import { base58 } from '../../../src/base/base58.ts';
import { concat } from '../../../src/base/bytes.ts';
import { SIGNATURE_BYTES } from '../../../src/base/sizes.ts';
import { decodeBlock } from '../../../src/block/block.ts';
import {
  encodeStatuses,
  RECORDS_MAX,
  STATUS_NOTICES,
} from '../../../src/contracts/statuses/status-messages.ts';
import { MESSAGE_CHARS_MAX, signedPart } from '../../../src/contracts/statuses/status-record.ts';
import { encodeFinalProof } from '../../../src/finality/proofs/final-proof.ts';
import { DECIDING_MAX } from '../../../src/finality/proofs/justification.ts';
import { signedVoteBytes } from '../../../src/finality/votes/vote.ts';
import { VOTES_OF_MESSAGE_MAX } from '../../../src/finality/votes/votes-message.ts';
import {
  blockLimits,
  blockProtocols,
  decodeBlocks,
  encodeBlockTxsRequest,
  encodeCompact,
  encodeIdList,
  encodeTip,
} from '../../../src/network/messages/block-messages.ts';
import { encodePeers, PEERS, PEERS_MAX } from '../../../src/network/messages/peer-messages.ts';
import {
  encodeTxHashes,
  txLimits,
  txProtocols,
} from '../../../src/network/messages/transaction-messages.ts';
import { FINALITY_PROOFS, VOTES } from '../../../src/network/messages/vote-messages.ts';
import type { ItemId } from '../../../src/privacy/protocol/item-id.ts';
import {
  DATA,
  encodeItems,
  encodeRequest,
  ITEMS,
  ITEMS_MAX,
  signedByAsker,
} from '../../../src/privacy/protocol/privacy-messages.ts';
import { family } from '../e2e/network-folder.ts';
import { scheme } from '../e2e/process-network.ts';
import { type Kind, numbered } from './flood.ts';
import type { AttackingPeer } from './peer.ts';
import type { Target } from './target.ts';

export interface Worst {
  readonly kind: Kind;
  /** A new one each time where the node forgets what it has seen before. */
  message(): Uint8Array;
}

const ANSWER_HEAD_BYTES = 5;
const random = (count: number, size: number): Uint8Array[] =>
  Array.from({ length: count }, () => randomBytes(size));

interface Block {
  readonly signature: string;
  readonly blocksize: number;
  readonly transactionCount: number;
}

/** The largest blocks of the chain first. */
async function blocksOf({ rest }: Target): Promise<Block[]> {
  const height = await rest.height();
  const all: Block[] = [];
  for (let from = 1; from <= height; from += 100) {
    const { body } = await rest.get(`/blocks/headers/seq/${from}/${Math.min(height, from + 99)}`);
    all.push(...(body as Block[]));
  }
  return all.sort((a, b) => b.blocksize - a.blocksize);
}

const idOf = ({ signature }: Block): Uint8Array => base58.decode(signature)!;

export function itemRequest(peer: AttackingPeer, { policyId, hash }: ItemId): Uint8Array {
  const { publicKey: ephemeralKey } = family.generateKeyPair(systemRandom);
  const about = { policyId, hash, asker: peer.address, replier: peer.targetAddress };
  const signature = peer.sign(signedByAsker(about, ephemeralKey));
  return encodeRequest({ policyId, hash, ephemeralKey, signature });
}

/** Records of the greatest length about transactions that nobody knows. */
function statusesOf({ publicKey: senderPublicKey }: AttackingPeer): Uint8Array {
  const record = (): Uint8Array =>
    signedPart(
      {
        senderPublicKey,
        txId: randomBytes(32),
        status: 'Success',
        code: 1,
        message: '€'.repeat(MESSAGE_CHARS_MAX),
        timestamp: Date.now(),
      },
      scheme,
    );
  const records = Array.from({ length: RECORDS_MAX }, () => concat(record(), randomBytes(64)));
  return encodeStatuses(records, scheme);
}

/** As many votes as a message may have, all of them made up. */
const votesOfNobody = (): Uint8Array =>
  concat(
    Uint8Array.of(VOTES_OF_MESSAGE_MAX),
    randomBytes(VOTES_OF_MESSAGE_MAX * signedVoteBytes(scheme)),
  );

/** As many votes as a proof may have, for a block that nobody has. */
const proofOfNobody = (): Uint8Array => {
  const [genesis, ruleHash, source, target] = random(4, 32);
  const link = {
    genesis: genesis!,
    ruleHash: ruleHash!,
    source: { height: 2, id: source! },
    target: { height: 3, id: target! },
  };
  const votes = random(DECIDING_MAX, SIGNATURE_BYTES);
  return encodeFinalProof({ link, justification: { target: link.target, votes } }, scheme);
};

/** What the chain has to offer, found out once for each node. */
const found = new WeakMap<Target, ReturnType<typeof lookUp>>();

async function lookUp(target: Target, peer: AttackingPeer) {
  const largest = await blocksOf(target);
  const fullest = largest.reduce((a, b) => (b.transactionCount > a.transactionCount ? b : a));
  const header = await headerOf(peer, idOf(fullest));
  const oldest = (await target.rest.get('/blocks/at/1')).body as Block;
  return { largest, fullest, header, oldest };
}

/** The header of a block that the node has, asked for as any peer may. */
export async function headerOf(peer: AttackingPeer, id: Uint8Array) {
  const stream = await peer.open(blockProtocols.blocks);
  await stream.send(numbered(1, encodeIdList([id], scheme)));
  const answer = (await stream.receive())!.subarray(ANSWER_HEAD_BYTES);
  stream.abort();
  const [bytes] = decodeBlocks(answer, scheme, Number.MAX_SAFE_INTEGER);
  return decodeBlock(bytes!, scheme).header;
}

/** By protocol. */
export async function worstMessages(target: Target, peer: AttackingPeer) {
  const known = found.get(target) ?? lookUp(target, peer);
  found.set(target, known);
  const { largest, fullest, header, oldest } = await known;
  const score = (1n << 127n) - 1n;
  const ids = encodeIdList(largest.slice(0, blockLimits.blocksMax).map(idOf), scheme);
  const unknown = random(blockLimits.ownIdsMax - 1, 64);
  const indexes = Array.from({ length: fullest.transactionCount }, (_, i) => i);
  const parts = encodeBlockTxsRequest({ id: idOf(fullest), indexes }, scheme);
  let hashes: { hash: Uint8Array }[] | undefined;
  const places = Array.from({ length: PEERS_MAX }, (_, i) => ({
    host: `${'a'.repeat(50)}.${i}.invalid`,
    port: 1 + i,
  }));
  const tell = encodePeers(places, scheme);
  const worst: readonly (readonly [string, Kind, () => Uint8Array])[] = [
    [
      blockProtocols.head,
      'notice',
      () => encodeTip({ height: 2 ** 31, id: randomBytes(64), score }, scheme),
    ],
    [VOTES, 'notice', votesOfNobody],
    [FINALITY_PROOFS, 'notice', proofOfNobody],
    [blockProtocols.ids, 'request', () => encodeIdList([...unknown, idOf(oldest)], scheme)],
    [blockProtocols.blocks, 'request', () => ids],
    [
      blockProtocols.newBlock,
      'notice',
      () => {
        hashes ??= random(65_535, 32).map((hash) => ({ hash }));
        const unsigned = { ...header, signature: randomBytes(64) };
        return encodeCompact({ header: unsigned, txs: hashes }, scheme);
      },
    ],
    [blockProtocols.blockTxs, 'request', () => parts],
    [txProtocols.hashes, 'notice', () => encodeTxHashes(random(txLimits.countMax, 32), scheme)],
    [txProtocols.txs, 'request', () => encodeTxHashes(random(txLimits.countMax, 32), scheme)],
    [PEERS, 'notice', () => tell],
    [STATUS_NOTICES, 'notice', () => statusesOf(peer)],
    [
      DATA,
      'conversation',
      () => itemRequest(peer, { policyId: randomBytes(32), hash: randomBytes(32) }),
    ],
    [
      ITEMS,
      'notice',
      () =>
        encodeItems(
          Array.from({ length: ITEMS_MAX }, () => ({
            policyId: randomBytes(32),
            hash: randomBytes(32),
          })),
          scheme,
        ),
    ],
  ];
  return new Map<string, Worst>(worst.map(([name, kind, message]) => [name, { kind, message }]));
}
