/** Transactions whose sender has one of the slowest scripts, all at once. */
import { base58 } from '../../../src/base/base58.ts';
import { stringify } from '../../../src/base/json/json.ts';
import { txToJson } from '../../../src/tx/json/encode.ts';
import type { Tx } from '../../../src/tx/transaction.ts';
import { compiled } from '../../generators/scripts.ts';
import { make } from '../../privacy/members.ts';
import { scheme } from '../e2e/process-network.ts';
import { type Attack, answerTo, tally } from './attack.ts';
import { asPeer } from './peers.ts';
import type { Target } from './target.ts';

const PEER = 8;
const FEE = 100_000_000;
/** About as many comparisons as the complexity of a script allows. */
const HASHES = 70;

const doublings = Array.from({ length: 6 }, (_, i) => `let b${i + 1} = b${i} + b${i}\n`);
/** Hashes values of 64 KiB, and says no in the end. */
const SLOW =
  `let b0 = base64'${Buffer.alloc(1024).toString('base64')}'\n${doublings.join('')}let c = take(b6, 65535)\n` +
  Array(HASHES).fill('keccak256(b6) == keccak256(c)').join(' || ');

const broadcast = ({ rest }: Target, tx: Tx): Promise<string> =>
  answerTo(`${rest.url}/transactions/broadcast`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: stringify(txToJson(tx, scheme)),
  });

export const scriptedAttack = (count: number): Attack => ({
  name: `${count} transactions at once of a sender with a slow script`,
  send: (target) =>
    asPeer(target, PEER, async (peer) => {
      const script = `base64:${Buffer.from(compiled(SLOW)).toString('base64')}`;
      const about = { name: 'slow', description: '', chainId: scheme.chainId, fee: FEE };
      const guard = make(peer, Date.now(), { type: 13, ...about, script });
      const taken = await broadcast(target, guard);
      if (taken !== '200') throw new Error(`the script was refused with ${taken}`);
      await target.rest.mined(base58.encode(guard.id));
      const payment = { type: 4, version: 2, recipient: target.owner, amount: 1, fee: FEE };
      const txs = Array.from({ length: count }, (_, n) =>
        make(peer, Date.now() + n, { ...payment, attachment: '' }),
      );
      return tally(await Promise.all(txs.map((tx) => broadcast(target, tx))));
    }),
});
