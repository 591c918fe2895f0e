/**
 * POST /privacy/sendData: accepts data of a policy from a client (privacy.md#sending).
 *
 * Invariants: the checks come in the order of privacy.md#sending; data are stored only with a
 * transaction that the pool would accept, and a transaction is sent only with durable data;
 * repeating a request is harmless, whatever the outcome of the first one.
 */

import { base58 } from '../../base/base58.ts';
import { equal, latin1 } from '../../base/bytes.ts';
import { apiError, refused } from '../../base/errors.ts';
import { type PrivateStore, wrongHash } from '../../base/ports/private-store.ts';
import { ID_BYTES } from '../../base/sizes.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { BoundedCache } from '../../concurrency/bounded-cache.ts';
import { KeyedMutex } from '../../concurrency/keyed-mutex.ts';
import { Semaphore } from '../../concurrency/semaphore.ts';
import { TimeSlice } from '../../concurrency/time-slice.ts';
import type { KeyedView } from '../../ledger/committed-view.ts';
import { boundHash, isMember, policyOf, RECIPIENT } from '../../ledger/policies.ts';
import type { PoolEntry } from '../../mempool/entries/entry.ts';
import type { PoolListener } from '../../mempool/entries/pool-entries.ts';
import { buildTx } from '../../tx/assemble.ts';
import type { Tx } from '../../tx/transaction.ts';
import { policyDataHash } from '../../tx/types/114-policy-data-hash.ts';
import { type ItemId, itemKey } from '../protocol/item-id.ts';
import { type DataHashPorts, dataHashTx } from './data-hash-tx.ts';
import {
  checkRequest,
  type DataToSend,
  dataOf,
  hashOf,
  hashOfData,
  infoOf,
  policyIdOf,
} from './data-to-send.ts';

export interface SendPorts extends DataHashPorts {
  readonly view: KeyedView;
  readonly store: PrivateStore;
  readonly pool: {
    /** Throws ApiError where `submit` would refuse it. */
    check(tx: Tx): void;
    submit(tx: Tx): Promise<Tx>;
    get(id: Uint8Array): Tx | undefined;
    decode(entry: PoolEntry): Tx;
    inOrder(): Iterable<PoolEntry>;
    listen(listener: PoolListener): unknown;
    settled(sender: Uint8Array): Promise<void> | undefined;
  };
  /** Called when the transaction is in the pool; other nodes may soon ask for the data. */
  readonly onSent: (item: ItemId) => void;
}

/** Bytes of the Base64 texts that are being processed; more are refused meanwhile. */
const TEXT_BYTES_MAX = 128 * 1024 * 1024;
/** Remembered transactions of the pool, by the policy and hash that they bind. */
const SENT_MAX = 10_000;

/** Resolves with the transaction. Rejects with ApiError and PrivateStoreError. */
export type SendData = (request: DataToSend, broadcast: boolean) => Promise<Tx>;

export function createSendData(ports: SendPorts): SendData {
  const { scheme, view, store, clock, pool, ownerAddress } = ports;
  const sent = new BoundedCache<string, Uint8Array>(SENT_MAX);
  const oneOfItem = new KeyedMutex();
  const texts = new Semaphore(TEXT_BYTES_MAX, { inAll: 0 });
  const own = latin1(ownerAddress);
  function note(entry: PoolEntry): void {
    if (entry.def.type !== policyDataHash.type || entry.sender !== own) return;
    const { id, fields } = pool.decode(entry);
    const { policyId, dataHash: hash } = fields as Record<'policyId' | 'dataHash', Uint8Array>;
    sent.set(itemKey({ policyId, hash }), id);
  }
  pool.listen({ added: note });
  // What it took back from its journal before.
  for (const entry of pool.inOrder()) note(entry);

  async function send(request: DataToSend, broadcast: boolean): Promise<Tx> {
    checkRequest(request);
    const actual = await hashOfData(request, new TimeSlice(clock));
    const hash = hashOf(request.hash);
    const policyId = policyIdOf(request.policyId);
    const item = { policyId, hash };
    const tx = await dataHashTx(request, item, ports);
    const policy = policyId.length === ID_BYTES ? policyOf(view, policyId) : undefined;
    if (policy === undefined) throw apiError('PolicyNotFound');
    if (!isMember(view, policyId, RECIPIENT, ownerAddress)) {
      throw refused(`Sender '${scheme.addressToText(ownerAddress)}' is not in policy recipients`);
    }
    if (!equal(actual, hash)) throw wrongHash(actual, hash).answer;
    return oneOfItem.run(itemKey(item), async () => {
      if (boundHash(view, policyId, hash) !== undefined) {
        throw apiError('PolicyDataExists', base58.encode(hash));
      }
      await pool.settled(ownerAddress);
      const write = (): Promise<void> => {
        const stored = { ...item, ...infoOf(request), sender: ownerAddress };
        return store.write(stored, dataOf(request, new TimeSlice(clock)), 'client');
      };
      const waiting = broadcast ? pool.get(sent.get(itemKey(item)) ?? NO_ID) : undefined;
      if (waiting !== undefined) {
        // The storage may be another one since.
        if ((await store.info(policyId, hash)) === undefined) await write();
        return waiting;
      }
      await pool.check(broadcast ? tx : asAlone(tx, scheme));
      await write();
      return broadcast ? submit(tx, item) : tx;
    });
  }

  async function submit(tx: Tx, item: ItemId): Promise<Tx> {
    const pooled = await pool.submit(tx);
    ports.onSent(item);
    return pooled;
  }

  return (request, broadcast) =>
    texts.run(() => send(request, broadcast), undefined, request.data.length);
}

/** A part of an atomic transaction meets the rules that it would meet alone. */
const asAlone = ({ def, layout, fields, proofs }: Tx, scheme: ChainScheme): Tx =>
  buildTx(def, layout, { ...fields, atomicBadge: undefined }, proofs, scheme);

const NO_ID = new Uint8Array(0);
