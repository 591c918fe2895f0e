/** The largest answer to `txs`: transactions of a pool that holds as many bytes as an answer may. */
import { base58 } from '../../../src/base/base58.ts';
import { stringify } from '../../../src/base/json/json.ts';
import { encodeTxHashes, txProtocols } from '../../../src/network/messages/transaction-messages.ts';
import { txToJson } from '../../../src/tx/json/encode.ts';
import { make } from '../../privacy/members.ts';
import { scheme } from '../e2e/process-network.ts';
import { type Attack, answerTo } from './attack.ts';
import { flood } from './flood.ts';
import { asPeer } from './peers.ts';

/** More than one answer holds, and more than the blocks of the attack take away. */
const COUNT = 60;
const ENTRIES = 100;
const ENTRY_BYTES = 1400;
const FEE = 150_000_000;
const PEER = 9;

export const pooledAttack = (streams: number, forMs: number): Attack => ({
  name: `\`${txProtocols.txs}\` the largest transactions of the pool, streams: ${streams}`,
  send: (target) =>
    asPeer(target, PEER, async (peer) => {
      const value = 'x'.repeat(ENTRY_BYTES);
      const authorPublicKey = base58.encode(peer.publicKey);
      const txs = Array.from({ length: COUNT }, (_, n) =>
        make(peer, Date.now() + n, {
          type: 12,
          authorPublicKey,
          fee: FEE,
          data: Array.from({ length: ENTRIES }, (_, i) => ({ key: `${i}`, type: 'string', value })),
        }),
      );
      const url = `${target.rest.url}/transactions/broadcast`;
      const headers = { 'content-type': 'application/json' };
      const answers = await Promise.all(
        txs.map((tx) =>
          answerTo(url, { method: 'POST', headers, body: stringify(txToJson(tx, scheme)) }),
        ),
      );
      const taken = txs.filter((_, i) => answers[i] === '200');
      if (taken.length < COUNT / 2) throw new Error(`the pool took ${taken.length} of ${COUNT}`);
      const message = encodeTxHashes(
        taken.map(({ bytes }) => scheme.fastHash(bytes)),
        scheme,
      );
      const protocol = txProtocols.txs;
      return flood(peer, { protocol, kind: 'request', message: () => message, streams, forMs });
    }),
});
