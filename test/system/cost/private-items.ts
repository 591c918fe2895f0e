/**
 * Attacks of a member of a policy on another: repeated requests for its data, and filling its disk.
 */
import { randomBytes } from 'node:crypto';
import { systemRandom } from '../../../src/adapters/system.ts';
import { base58 } from '../../../src/base/base58.ts';
import { latin1 } from '../../../src/base/bytes.ts';
import type { PeerStream } from '../../../src/base/ports/network.ts';
import { chunkSealer } from '../../../src/crypto/stream-cipher.ts';
import {
  decodeTxHashes,
  encodeTxHashes,
  encodeTxs,
  txProtocols,
} from '../../../src/network/messages/transaction-messages.ts';
import { inChunks } from '../../../src/privacy/protocol/chunks.ts';
import { itemBytes } from '../../../src/privacy/protocol/item-id.ts';
import {
  DATA,
  decodeRequest,
  encodeHeader,
  encodeItems,
  encodeOffer,
  ITEMS,
  signedByReplier,
} from '../../../src/privacy/protocol/privacy-messages.ts';
import { transferKey } from '../../../src/privacy/protocol/session-key.ts';
import type { Tx } from '../../../src/tx/transaction.ts';
import { make } from '../../privacy/members.ts';
import { family } from '../e2e/network-folder.ts';
import { eventually } from '../e2e/process.ts';
import { scheme } from '../e2e/process-network.ts';
import { type Attack, judged } from './attack.ts';
import { flood, type Kind } from './flood.ts';
import { itemRequest } from './messages.ts';
import { type AttackingPeer, connectPeer } from './peer.ts';
import { asPeer } from './peers.ts';
import { POLICY_QUOTA, peers, sha256, type Target } from './target.ts';

const ITEM_BYTES = 2 * 1024 * 1024;
/** Together well over the quota. */
const ITEMS_SENT = 20;
const FEE = 5_000_000;

export const itemAttack = (kind: Kind, streams: number, forMs: number): Attack => ({
  name: `9: the same confidential item again and again${kind === 'abandoned' ? ', leaving at once' : ''}`,
  send: (target) =>
    asPeer(target, 0, (peer) => {
      const { policyId, hash } = target.item;
      const item = { policyId: base58.decode(policyId)!, hash };
      return flood(peer, {
        protocol: DATA,
        kind,
        message: () => itemRequest(peer, item),
        streams,
        forMs,
      });
    }),
});

async function notice(peer: AttackingPeer, protocol: string, message: Uint8Array): Promise<void> {
  const stream = await peer.open(protocol);
  await stream.send(message);
}

/** Answers as the protocol says. */
async function serve(
  stream: PeerStream,
  peer: AttackingPeer,
  held: ReadonlyMap<string, Uint8Array>,
): Promise<boolean> {
  const request = decodeRequest((await stream.receive())!, scheme);
  const data = held.get(latin1(request.hash));
  if (data === undefined) return false;
  const own = family.generateKeyPair(systemRandom);
  const about = { ...request, asker: peer.targetAddress, replier: peer.address };
  const signature = peer.sign(signedByReplier(about, request.ephemeralKey, own.publicKey));
  await stream.send(encodeOffer({ ephemeralKey: own.publicKey, signature }));
  const keys = [request.ephemeralKey, own.publicKey] as const;
  const key = transferKey(family, own.privateKey, request.ephemeralKey, keys);
  const seal = chunkSealer(family, key, itemBytes(request));
  const texts = { type: 'file', filename: 'x', size: '1', author: '', comment: '' };
  const header = encodeHeader({ ...texts, sender: peer.targetAddress, timestamp: 1n }, scheme);
  async function* pieces(): AsyncGenerator<Uint8Array> {
    yield header;
    yield data!;
  }
  for await (const chunk of inChunks(pieces(), header.length + data.length)) {
    await stream.send(seal(chunk));
  }
  await stream.end();
  return true;
}

export const quotaAttack: Attack = {
  name: `10: ${ITEMS_SENT} items of 2 MiB for a policy whose quota is 24 MiB`,
  async send(target) {
    const before = target.privateBytes();
    const policyId = await target.policy();
    const items = Array.from({ length: ITEMS_SENT }, () => randomBytes(ITEM_BYTES));
    const held = new Map(items.map((data) => [latin1(sha256(data)), data]));
    let served = 0;
    let told: readonly Tx[] = [];
    const peer = await connectPeer(target, peers[0]!, {
      async privateData(stream, peer) {
        if (await serve(stream, peer, held)) served++;
      },
      transactions(message) {
        const asked = new Set(decodeTxHashes(message, scheme).map(latin1));
        const list = told.filter((tx) => asked.has(latin1(scheme.fastHash(tx.bytes))));
        return encodeTxs(
          list.map(({ bytes }) => bytes),
          scheme,
        );
      },
    });
    try {
      told = items.map((data) =>
        make(peer, Date.now(), {
          type: 114,
          fee: FEE,
          policyId,
          dataHash: base58.encode(sha256(data)),
        }),
      );
      const ids = items.map((data) => ({ policyId: base58.decode(policyId)!, hash: sha256(data) }));
      await notice(peer, ITEMS, encodeItems(ids, scheme));
      const hashes = told.map(({ bytes }) => scheme.fastHash(bytes));
      await notice(peer, txProtocols.hashes, encodeTxHashes(hashes, scheme));
      for (const { id } of told) await target.rest.mined(base58.encode(id));
      await eventually('a first item', async () => (served > 0 ? true : undefined));
      await quiet(target);
    } finally {
      await peer.close();
    }
    const taken = target.privateBytes() - before;
    const mib = Math.round(taken / 1024 / 1024);
    const isKept = taken > 0 && taken <= POLICY_QUOTA;
    return judged(isKept, `${mib} MiB on the disk, ${served} items fetched`);
  },
};

/** Resolves when the disk has not changed for a while. */
async function quiet({ privateBytes }: Target): Promise<void> {
  for (let last = -1; last !== privateBytes(); ) {
    last = privateBytes();
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
  }
}

const QUIET_MS = 1_500;
